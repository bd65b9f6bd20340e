/// \file
/// Text of bounded length without heap, locale or exceptions.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile {

/// Appends into a fixed buffer; always terminated; what does not fit is cut and ends in "...".
template <int Capacity>
class fixed_text {
  static_assert(Capacity >= 8, "a fixed_text holds at least a few characters");

public:
  /// Nothing behind the text is written, so that a `status` of success costs a call next to
  /// nothing; in constant evaluation, which wants all of an object, everything is.
  constexpr fixed_text() {
    text_[0] = '\0';
    if (__builtin_is_constant_evaluated())
      for (char& character : text_)
        character = '\0';
  }
  constexpr fixed_text(const fixed_text& other) : fixed_text() { *this = other; }
  constexpr fixed_text& operator=(const fixed_text& other) {
    length_ = other.length_;
    for (int i = 0; i <= other.length_; ++i)
      text_[i] = other.text_[i];
    return *this;
  }

  constexpr fixed_text& append(const char* text) {
    for (; text != nullptr && *text != '\0'; ++text)
      push(*text);
    return *this;
  }
  constexpr fixed_text& append(char character) {
    push(character);
    return *this;
  }
  constexpr fixed_text& append(int64_t value) {
    if (value >= 0)
      return append(static_cast<uint64_t>(value));
    push('-');
    return append(uint64_t{0} - static_cast<uint64_t>(value));
  }
  constexpr fixed_text& append(uint64_t value) {
    char digits[20] = {};
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + static_cast<int>(value % 10));
      value /= 10;
    } while (value != 0);
    while (count > 0)
      push(digits[--count]);
    return *this;
  }
  constexpr fixed_text& append(int value) { return append(static_cast<int64_t>(value)); }
  constexpr fixed_text& append(unsigned value) { return append(static_cast<uint64_t>(value)); }

  constexpr const char* c_str() const { return text_; }
  constexpr int length() const { return length_; }

private:
  constexpr void push(char character) {
    if (length_ + 1 < Capacity) {
      text_[length_++] = character;
      text_[length_] = '\0';
      return;
    }
    for (int i = 0; i < 3; ++i)
      text_[Capacity - 2 - i] = '.';
  }

  int length_ = 0;
  char text_[Capacity];
};

} // namespace wavetile
