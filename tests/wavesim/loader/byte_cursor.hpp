// Reads values from bytes of which nothing is known but where they end.
#pragma once

#include <cstdint>
#include <string_view>

namespace wavesim {

/// Thrown where bytes cannot mean what they should.
struct Damage {};

/// Little-endian values one behind the other. One that would reach behind the last byte is Damage.
class ByteCursor {
public:
  explicit ByteCursor(std::string_view bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  std::string_view left() const { return left_; }

  std::string_view take(std::uint64_t bytes) {
    if (bytes > left_.size())
      throw Damage();
    const auto taken = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return taken;
  }
  /// Of 0 to 8 bytes.
  std::uint64_t number(std::uint64_t bytes) {
    std::uint64_t x = 0;
    unsigned shift = 0;
    for (const char c : take(bytes)) {
      x |= std::uint64_t{static_cast<unsigned char>(c)} << shift;
      shift += 8;
    }
    return x;
  }
  unsigned byte() { return static_cast<unsigned>(number(1)); }
  std::uint64_t unsigned_leb() { return leb(false); }
  /// Modulo 2^64.
  std::uint64_t signed_leb() { return leb(true); }
  /// A string that starts here, with what follows it. Steps behind its zero.
  std::string_view string() {
    const auto from = left_;
    const auto zero = left_.find('\0');
    if (zero == std::string_view::npos)
      throw Damage();
    left_.remove_prefix(zero + 1);
    return from;
  }

private:
  std::uint64_t leb(bool sign) {
    std::uint64_t x = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const unsigned next = byte();
      x |= std::uint64_t{next & 0x7f} << shift;
      if (next & 0x80)
        continue;
      if (sign && (next & 0x40) && shift + 7 < 64)
        x |= ~std::uint64_t{0} << (shift + 7);
      return x;
    }
    throw Damage();
  }

  std::string_view left_;
};

} // namespace wavesim
