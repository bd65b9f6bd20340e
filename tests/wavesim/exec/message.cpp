// s_sendmsg: handed to the host side.
#include "isa/message.hpp"

#include "exec/scalar_op.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

void send(Wave& w, const Op& op) {
  if (message_hook)
    message_hook(w, op, static_cast<std::uint32_t>(op.imm) & 0xffff);
}

} // namespace

void register_message(OpTable& table) {
  table.add(scalar_op("s_sendmsg", send, Unit::message));
  table.add(scalar_op("s_sendmsghalt", send, Unit::message));
}

} // namespace wavesim::WAVESIM_SIMD_NS
