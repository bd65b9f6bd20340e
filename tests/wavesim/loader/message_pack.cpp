#include "loader/message_pack.hpp"

#include <llvm/BinaryFormat/MsgPackReader.h>

namespace wavesim {

namespace {

using llvm::msgpack::Type;

// Metadata is five levels deep; a damaged file must not exhaust the stack.
constexpr unsigned deepest = 32;

class TreeReader {
public:
  explicit TreeReader(std::string_view bytes)
      : bytes_(bytes.size()), reader_(llvm::StringRef(bytes.data(), bytes.size())) {}

  bool node(PackNode& out, unsigned depth) {
    llvm::msgpack::Object object;
    auto more = reader_.read(object);
    if (!more) {
      llvm::consumeError(more.takeError());
      return false;
    }
    if (!*more || depth > deepest)
      return false;
    switch (object.Kind) {
    case Type::UInt:
      return number(out, object.UInt);
    case Type::Int:
      return object.Int < 0 || number(out, static_cast<std::uint64_t>(object.Int));
    case Type::Boolean:
      return number(out, object.Bool ? 1 : 0);
    case Type::String:
      out.kind = PackNode::Kind::text;
      out.text = object.Raw.str();
      return true;
    case Type::Array:
      out.kind = PackNode::Kind::array;
      return elements(object.Length, [&] { return node(out.array.emplace_back(), depth + 1); });
    case Type::Map:
      out.kind = PackNode::Kind::map;
      return elements(object.Length, [&] {
        PackNode key, value;
        if (!node(key, depth + 1) || !node(value, depth + 1))
          return false;
        if (key.kind == PackNode::Kind::text) {
          out.keys.push_back(std::move(key.text));
          out.array.push_back(std::move(value));
        }
        return true;
      });
    default:
      return true; // nil, floats, binary: nothing anybody asks for
    }
  }

private:
  static bool number(PackNode& out, std::uint64_t x) {
    out.kind = PackNode::Kind::number;
    out.number = x;
    return true;
  }

  template <class Element>
  bool elements(std::size_t count, Element&& element) {
    if (count > bytes_) // each takes at least a byte
      return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!element())
        return false;
    return true;
  }

  std::size_t bytes_;
  llvm::msgpack::Reader reader_;
};

} // namespace

const PackNode* PackNode::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key)
      return &array[i];
  return nullptr;
}

bool read_pack(std::string_view bytes, PackNode& root) {
  return TreeReader(bytes).node(root, 0);
}

} // namespace wavesim
