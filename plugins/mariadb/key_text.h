// Text as key bytes whose order under memcmp is the order of its collation.
//
// | order      | for                         | bytes of one level of weights            |
// |------------|-----------------------------|------------------------------------------|
// | terminated | binary, NOPAD (first level) | weights, 00 as 00 FF; then 00 00         |
// | chunked    | PAD SPACE, later levels     | chunks of weights, each with its marker  |
//
// Two old Czech collations put all levels into one image, which is terminated.
//
// A chunk holds 8 bytes of weights (6 where a space weighs 3), the last one filled with the
// weight of a space. Its marker tells how what follows compares with spaces without end: 1
// less, 2 nothing follows, 3 greater. Collations of several levels write level after level, so
// that a later one decides only between texts that all earlier ones hold equal. No encoding is
// the beginning of another, so further key parts may follow, and a descending part is the same
// with its bits flipped.
//
// Valid if and only if `skip` finds its end, and the bytes are those that `append` makes.

#ifndef ESKER_KEY_TEXT_H
#define ESKER_KEY_TEXT_H

#include <my_global.h>
#include <m_ctype.h>

#include <string>
#include <vector>

namespace esker {

class KeyText {
 public:
  // Looks at the collation once. No key may be made of one that is not known: the table is refused.
  explicit KeyText(CHARSET_INFO *collation);

  bool is_known() const { return known_; }

  // Appends the first `chars_max` characters of the text. Throws std::bad_alloc only.
  void append(const uchar *text, size_t length, size_t chars_max, std::string *key) const;

  // The length of the encoding that `key` begins with, or 0 if there is none.
  size_t skip(const uchar *key, size_t length) const;

  // Whether a text of that collation can be had back from its encoding, but for spaces at its end
  // where these do not count.
  static bool gives_back(const CHARSET_INFO *collation);

  // Appends the text of an encoding that `skip` found the end of, if it can be had back.
  void restore(const uchar *key, size_t length, std::string *text) const;

  // No text of so many bytes has a longer encoding.
  size_t length_max(size_t length) const;

 private:
  struct Level {
    uint flags;         // what strnxfrm is asked for; 0 for all there is
    bool is_chunked;
    std::string space;  // the weight of a space, where chunked
    size_t chunk_bytes() const { return 8 / space.size() * space.size(); }
  };

  std::string weights(const Level &level, const uchar *text, size_t length) const;

  CHARSET_INFO *collation_;
  bool known_ = true;
  bool is_trimmed_ = false;
  size_t weight_bytes_ = 1;  // of a character, where texts can be had back
  std::vector<Level> levels_;
};

}  // namespace esker

#endif
