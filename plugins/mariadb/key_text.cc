// Text as key bytes whose order under memcmp is the order of its collation.

#include "key_text.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace esker {

namespace {

// Weights are asked for in a room that is grown until it is not full, since a weight cut off would
// make unequal texts equal.
constexpr size_t kRoomAtFirst = 64;

// What one character of Unicode weighs at most, U+FDFA, which is more than the server expects.
constexpr size_t kWeightOfChar = 36;

// They put their levels into one image that is in order, and expect trailing spaces to be gone.
const char *const kWhole[] = {"latin2_czech_cs", "cp1250_czech_cs"};

// Their comparison in the server (10.11.18) does not agree with their weights: those of Big5 hold
// some unequal characters equal and stop there, the Thai one stops at a zero byte. The last is the
// server's own for names of files; no column has it.
const char *const kRefused[] = {"big5_chinese_ci", "big5_chinese_nopad_ci", "tis620_thai_nopad_ci",
                                "filename"};

enum Marker : char { kLess = 1, kEnd = 2, kGreater = 3 };

// How `rest`, followed by spaces without end, compares with nothing but spaces.
Marker compare_with_spaces(const char *rest, size_t length, const std::string &space) {
  for (size_t at = 0; at < length; at++) {
    const uchar here = static_cast<uchar>(rest[at]);
    const uchar blank = static_cast<uchar>(space[at % space.size()]);
    if (here != blank) return here < blank ? kLess : kGreater;
  }
  return kEnd;
}

void append_terminated(const std::string &weights, std::string *key) {
  for (const char byte : weights) {
    key->push_back(byte);
    if (byte == 0) key->push_back(static_cast<char>(0xff));
  }
  key->append(2, '\0');
}

void append_chunked(const std::string &weights, const std::string &space, size_t chunk,
                    std::string *key) {
  size_t at = 0;
  for (;;) {
    const size_t taken = std::min(chunk, weights.size() - at);
    key->append(weights, at, taken);
    for (size_t filled = taken; filled < chunk; filled++) {
      key->push_back(space[filled % space.size()]);
    }
    at += taken;
    const Marker marker = compare_with_spaces(weights.data() + at, weights.size() - at, space);
    key->push_back(marker);
    if (marker == kEnd) return;
  }
}

}  // namespace

KeyText::KeyText(CHARSET_INFO *collation) : collation_(collation) {
  const char *name = collation->coll_name.str;
  for (const char *refused : kRefused) {
    if (!strcmp(name, refused)) known_ = false;
  }
  for (const char *whole : kWhole) {
    if (!strcmp(name, whole)) is_trimmed_ = true;
  }
  const bool is_padded = !is_trimmed_ && !(collation->state & MY_CS_NOPAD);
  const uint several = is_trimmed_ ? 0 : collation->levels_for_order;
  for (uint bit = 0; bit < MY_STRXFRM_NLEVELS; bit++) {
    if (several > 1 ? !(several & (1U << bit)) : bit > 0) continue;
    // Only the first level of a NOPAD collation is without padding: an accent that the others pass
    // over still has a weight there, the one of a space.
    Level level{several > 1 ? 1U << bit : 0, is_padded || bit > 0, {}};
    if (level.is_chunked) {
      // In UCS-2 and its kin a space is not one byte long.
      uchar blank[8];
      const int length = collation->wc_mb(' ', blank, blank + sizeof blank);
      if (length > 0) level.space = weights(level, blank, static_cast<size_t>(length));
      if (level.space.empty() || level.space.size() > 4) known_ = false;
    }
    levels_.push_back(level);
  }
  if (gives_back(collation) && collation->mbmaxlen > 1) {
    uchar one[8];
    const int length = collation->wc_mb('a', one, one + sizeof one);
    weight_bytes_ = weights(levels_.front(), one, static_cast<size_t>(length)).size();
  }
}

// Where characters are ordered as numbers, their weights are these numbers.
bool KeyText::gives_back(const CHARSET_INFO *collation) {
  return collation->state & MY_CS_BINSORT &&
         (collation->mbmaxlen == 1 || collation->state & MY_CS_UNICODE);
}

std::string KeyText::weights(const Level &level, const uchar *text, size_t length) const {
  std::string out(std::max(kRoomAtFirst, length * 4), '\0');
  for (;;) {
    uchar *room = reinterpret_cast<uchar *>(&out[0]);
    const size_t used = collation_->coll->strnxfrm(collation_, room, out.size(), UINT_MAX, text,
                                                   length, level.flags);
    if (used < out.size()) {
      out.resize(used);
      return out;
    }
    out.assign(out.size() * 2, '\0');
  }
}

void KeyText::append(const uchar *text, size_t length, size_t chars_max, std::string *key) const {
  const char *begin = reinterpret_cast<const char *>(text);
  size_t cut = std::min(length, collation_->charpos(begin, begin + length, chars_max));
  if (is_trimmed_) cut = collation_->lengthsp(begin, cut);
  for (const Level &level : levels_) {
    const std::string weighed = weights(level, text, cut);
    if (level.is_chunked) {
      append_chunked(weighed, level.space, level.chunk_bytes(), key);
    } else {
      append_terminated(weighed, key);
    }
  }
}

size_t KeyText::skip(const uchar *key, size_t length) const {
  size_t at = 0;
  for (const Level &level : levels_) {
    if (level.is_chunked) {
      uchar marker;
      do {
        at += level.chunk_bytes() + 1;
        if (at > length) return 0;
        marker = key[at - 1];
        if (marker < kLess || marker > kGreater) return 0;
      } while (marker != kEnd);
    } else {
      for (;;) {
        if (at + 1 > length) return 0;
        if (key[at++] != 0) continue;
        if (at + 1 > length) return 0;
        const uchar second = key[at++];
        if (second == 0) break;
        if (second != 0xff) return 0;
      }
    }
  }
  return at;
}

void KeyText::restore(const uchar *key, size_t length, std::string *text) const {
  const Level &level = levels_.front();
  const char *from = reinterpret_cast<const char *>(key);
  std::string weighed;
  if (level.is_chunked) {
    const size_t chunk = level.chunk_bytes(), blank = level.space.size();
    for (size_t at = 0; at + chunk < length; at += chunk + 1) weighed.append(from + at, chunk);
    while (weighed.size() >= blank &&
           !weighed.compare(weighed.size() - blank, blank, level.space)) {
      weighed.resize(weighed.size() - blank);
    }
  } else {
    for (size_t at = 0; at + 2 < length; at++) {
      weighed.push_back(from[at]);
      if (from[at] == 0) at++;
    }
  }
  if (collation_->mbmaxlen == 1) {
    *text += weighed;
    return;
  }
  for (size_t at = 0; at + weight_bytes_ <= weighed.size(); at += weight_bytes_) {
    my_wc_t character = 0;
    for (size_t byte = 0; byte < weight_bytes_; byte++) {
      character = character << 8 | static_cast<uchar>(weighed[at + byte]);
    }
    uchar bytes[8];
    const int used = collation_->wc_mb(character, bytes, bytes + sizeof bytes);
    if (used > 0) text->append(reinterpret_cast<char *>(bytes), static_cast<size_t>(used));
  }
}

size_t KeyText::length_max(size_t length) const {
  const size_t chars = length / collation_->mbminlen;
  const size_t expected = collation_->strnxfrmlen(length);
  const size_t weights =
      collation_->mbmaxlen > 1 ? std::max(expected, chars * kWeightOfChar) : expected;
  size_t sum = 0;
  for (const Level &level : levels_) {
    const size_t chunks = level.is_chunked ? weights / level.chunk_bytes() + 1 : 0;
    sum += level.is_chunked ? chunks * (level.chunk_bytes() + 1) : 2 * weights + 2;
  }
  return sum;
}

}  // namespace esker
