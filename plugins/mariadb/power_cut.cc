// A file system that forgets what was not synced, as a power cut does.
//
//   power_cut DIRECTORY MOUNT [SEED]
//
// Serves what is in DIRECTORY at MOUNT, from memory, until SIGTERM: then what was synced is put in
// the place of DIRECTORY, and nothing else is. With a SEED each page that was written and not synced
// is there or is not, by chance. A line on the standard output says that MOUNT can be used; the end
// tells how many pages were not synced.
//
// Below a directory whose name begins with '#', as that of the engine, a name is kept only once its
// directory is synced, which is what the standard promises; elsewhere with whatever is synced next,
// which is what file systems do, and what the server's own files rely on.
//
// It speaks the kernel's protocol (linux/fuse.h) by itself, one request after another. Whoever
// writes kills the server first, and then ends this. scripts/mariadb-crash.sh uses it.

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostWritten = 128 << 10;
// For ever: all that changes goes through the kernel, which knows it.
constexpr uint64_t kSeconds = 3600;

using Page = std::array<char, kPage>;

struct Content {
  std::map<uint64_t, std::shared_ptr<Page>> pages;  // what is not here is zeros
  uint64_t size = 0;
};

struct Node {
  uint64_t id = 0;
  uint32_t mode = 0;
  uint32_t links = 1;
  uint64_t parent = 0;
  bool is_strict = false;
  int64_t changed = 0;
  Content live, synced;
  std::set<uint64_t> unsynced;  // pages in which the two differ
  std::map<std::string, uint64_t> entries, synced_entries;

  bool is_directory() const { return S_ISDIR(mode); }
};

std::map<uint64_t, Node> nodes;
std::set<uint64_t> changed_directories;  // that are not strict
volatile sig_atomic_t is_cut = 0;

Node &make_node(Node *parent, const std::string &name, uint32_t mode) {
  const uint64_t id = nodes.size() + FUSE_ROOT_ID;
  Node &node = nodes[id];
  node.id = id;
  node.mode = mode;
  node.changed = time(nullptr);
  node.parent = parent ? parent->id : id;
  if (parent) {
    parent->entries[name] = id;
    node.is_strict = parent->is_strict || (S_ISDIR(mode) && name[0] == '#');
  }
  return node;
}

void change(Node &directory) {
  if (!directory.is_strict) changed_directories.insert(directory.id);
}

// --- Bytes of a file.

void write_bytes(Node &node, uint64_t at, const char *from, size_t size) {
  for (size_t done = 0; done < size;) {
    const uint64_t number = (at + done) / kPage, in_page = (at + done) % kPage;
    const size_t part = std::min<size_t>(kPage - in_page, size - done);
    auto &page = node.live.pages[number];
    // What was synced keeps its page.
    if (!page) page = std::make_shared<Page>(Page{});
    else if (page.use_count() > 1) page = std::make_shared<Page>(*page);
    memcpy(page->data() + in_page, from + done, part);
    node.unsynced.insert(number);
    done += part;
  }
  node.live.size = std::max(node.live.size, at + size);
  node.changed = time(nullptr);
}

void read_bytes(const Content &content, uint64_t at, char *into, size_t size) {
  memset(into, 0, size);
  for (size_t done = 0; done < size;) {
    const uint64_t number = (at + done) / kPage, in_page = (at + done) % kPage;
    const size_t part = std::min<size_t>(kPage - in_page, size - done);
    const auto found = content.pages.find(number);
    if (found != content.pages.end()) memcpy(into + done, found->second->data() + in_page, part);
    done += part;
  }
}

void zero_bytes(Node &node, uint64_t at, uint64_t size) {
  const std::vector<char> zeros(kPage);
  const uint64_t end = std::min(at + size, node.live.size);
  auto page = node.live.pages.lower_bound(at / kPage);
  while (page != node.live.pages.end() && page->first * kPage < end) {
    const uint64_t first = std::max(at, page->first * kPage);
    const uint64_t last = std::min(end, (page->first + 1) * kPage);
    page++;
    if (first < last) write_bytes(node, first, zeros.data(), last - first);
  }
}

void set_size(Node &node, uint64_t size) {
  if (size < node.live.size) {
    zero_bytes(node, size, kPage);
    auto page = node.live.pages.lower_bound((size + kPage - 1) / kPage);
    while (page != node.live.pages.end()) {
      node.unsynced.insert(page->first);
      page = node.live.pages.erase(page);
    }
  }
  node.live.size = size;
  node.changed = time(nullptr);
}

void keep_page(Node &node, uint64_t number) {
  const auto page = node.live.pages.find(number);
  if (page == node.live.pages.end()) node.synced.pages.erase(number);
  else node.synced.pages[number] = page->second;
}

void sync_names() {
  for (const uint64_t id : changed_directories) nodes[id].synced_entries = nodes[id].entries;
  changed_directories.clear();
}

void sync_node(Node &node) {
  for (const uint64_t number : node.unsynced) keep_page(node, number);
  node.unsynced.clear();
  node.synced.size = node.live.size;
  if (node.is_directory()) node.synced_entries = node.entries;
  sync_names();
}

// --- The directory that it begins with and ends as.

void load(Node &directory, const std::filesystem::path &path) {
  for (const auto &entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (entry.is_directory()) {
      load(make_node(&directory, name, S_IFDIR | 0755), entry.path());
    } else if (entry.is_regular_file()) {
      Node &node = make_node(&directory, name, S_IFREG | 0644);
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<char> bytes(kMostWritten);
      while (file.read(bytes.data(), static_cast<long>(bytes.size())), file.gcount() > 0) {
        const auto got = static_cast<size_t>(file.gcount());
        // InnoDB's log is 96 MiB, nearly all of it zeros.
        const auto is_zero = [](char byte) { return !byte; };
        if (std::all_of(bytes.begin(), bytes.begin() + file.gcount(), is_zero)) {
          node.live.size += got;
        } else {
          write_bytes(node, node.live.size, bytes.data(), got);
        }
      }
      sync_node(node);
    }
  }
  sync_node(directory);
}

void store_file(const Node &node, const std::filesystem::path &path) {
  std::ofstream file(path, std::ios::binary);
  for (const auto &[number, page] : node.synced.pages) {
    const uint64_t at = number * kPage;
    if (at >= node.synced.size) break;
    file.seekp(static_cast<long>(at));
    file.write(page->data(), static_cast<long>(std::min(kPage, node.synced.size - at)));
  }
  file.close();
  std::filesystem::resize_file(path, node.synced.size);
  if (!file) throw std::filesystem::filesystem_error("not written", path, std::error_code());
}

void store(const Node &directory, const std::filesystem::path &path) {
  std::filesystem::create_directory(path);
  for (const auto &[name, id] : directory.synced_entries) {
    const Node &node = nodes[id];
    if (node.is_directory()) store(node, path / name);
    else if (S_ISREG(node.mode)) store_file(node, path / name);
  }
}

// Returns how many pages were not synced. What a drawn page lies behind is zeros.
size_t cut(unsigned seed) {
  std::mt19937 random(seed);
  size_t unsynced = 0;
  for (auto &[id, node] : nodes) {
    unsynced += node.unsynced.size();
    for (const uint64_t number : node.unsynced) {
      if (!seed || random() % 2) continue;
      keep_page(node, number);
      const uint64_t end = std::min((number + 1) * kPage, node.live.size);
      if (node.synced.pages.count(number)) node.synced.size = std::max(node.synced.size, end);
    }
  }
  return unsynced;
}

// --- What the kernel asks.

struct Request {
  const fuse_in_header &head;
  const char *body;

  template <typename T> const T &as() const { return *reinterpret_cast<const T *>(body); }
  // A name behind a head of so many bytes.
  const char *name(size_t skipped = 0) const { return body + skipped; }
};

using Answer = std::vector<char>;

template <typename T> void add(Answer &answer, const T &value) {
  const char *bytes = reinterpret_cast<const char *>(&value);
  answer.insert(answer.end(), bytes, bytes + sizeof value);
}

fuse_attr attributes(const Node &node) {
  fuse_attr attr = {};
  attr.ino = node.id;
  attr.size = node.live.size;
  attr.blocks = node.live.pages.size() * (kPage / 512);
  attr.mtime = attr.ctime = attr.atime = static_cast<uint64_t>(node.changed);
  attr.mode = node.mode;
  attr.nlink = node.links;
  attr.uid = getuid();
  attr.gid = getgid();
  attr.blksize = kPage;
  return attr;
}

void add_entry(Answer &answer, const Node &node) {
  fuse_entry_out out = {};
  out.nodeid = node.id;
  out.entry_valid = out.attr_valid = kSeconds;
  out.attr = attributes(node);
  add(answer, out);
}

void add_attributes(Answer &answer, const Node &node) {
  fuse_attr_out out = {};
  out.attr_valid = kSeconds;
  out.attr = attributes(node);
  add(answer, out);
}

int make(const Request &request, Node &directory, const char *name, uint32_t mode, Answer &answer) {
  if (directory.entries.count(name)) return EEXIST;
  add_entry(answer, make_node(&directory, name, mode));
  change(directory);
  if (request.head.opcode == FUSE_CREATE) add(answer, fuse_open_out{});
  return 0;
}

int remove(Node &directory, const char *name) {
  const auto found = directory.entries.find(name);
  if (found == directory.entries.end()) return ENOENT;
  Node &node = nodes[found->second];
  if (node.is_directory() && !node.entries.empty()) return ENOTEMPTY;
  node.links--;
  directory.entries.erase(found);
  change(directory);
  return 0;
}

int rename(const Request &request, Node &from, Answer &) {
  const bool has_flags = request.head.opcode == FUSE_RENAME2;
  const auto &in = request.as<fuse_rename2_in>();  // begins as fuse_rename_in does
  if (has_flags && in.flags) return EINVAL;
  const char *old = request.name(has_flags ? sizeof in : sizeof(fuse_rename_in));
  const char *fresh = old + strlen(old) + 1;
  Node &to = nodes[in.newdir];
  const auto found = from.entries.find(old);
  if (found == from.entries.end()) return ENOENT;
  const uint64_t id = found->second;
  if (to.entries.count(fresh) && to.entries[fresh] == id) return 0;
  if (to.entries.count(fresh)) {
    if (const int error = remove(to, fresh)) return error;
  }
  from.entries.erase(old);
  to.entries[fresh] = id;
  nodes[id].parent = to.id;
  change(from);
  change(to);
  return 0;
}

int link(const Request &request, Node &directory, Answer &answer) {
  Node &node = nodes[request.as<fuse_link_in>().oldnodeid];
  const char *name = request.name(sizeof(fuse_link_in));
  if (directory.entries.count(name)) return EEXIST;
  node.links++;
  directory.entries[name] = node.id;
  change(directory);
  add_entry(answer, node);
  return 0;
}

int list(const Request &request, const Node &directory, Answer &answer) {
  const auto &in = request.as<fuse_read_in>();
  std::vector<std::pair<std::string, uint64_t>> all = {{".", directory.id}, {"..", directory.parent}};
  all.insert(all.end(), directory.entries.begin(), directory.entries.end());
  for (uint64_t at = in.offset; at < all.size(); at++) {
    fuse_dirent entry = {};
    entry.ino = all[at].second;
    entry.off = at + 1;
    entry.namelen = static_cast<uint32_t>(all[at].first.size());
    entry.type = (nodes[entry.ino].mode & S_IFMT) >> 12;
    const size_t whole = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen);
    if (answer.size() + whole > in.size) break;
    const char *bytes = reinterpret_cast<const char *>(&entry);
    const size_t begun = answer.size();
    answer.insert(answer.end(), bytes, bytes + FUSE_NAME_OFFSET);
    answer.insert(answer.end(), all[at].first.begin(), all[at].first.end());
    answer.resize(begun + whole);
  }
  return 0;
}

int set_attributes(const Request &request, Node &node, Answer &answer) {
  const auto &in = request.as<fuse_setattr_in>();
  if (in.valid & FATTR_MODE) node.mode = (node.mode & S_IFMT) | (in.mode & ~S_IFMT);
  if (in.valid & FATTR_SIZE) set_size(node, in.size);
  add_attributes(answer, node);
  return 0;
}

int allocate(const fuse_fallocate_in &in, Node &node) {
  constexpr uint32_t keep = 1, punch = 2, zero = 16;  // FALLOC_FL_…
  if (in.mode & ~(keep | punch | zero)) return EOPNOTSUPP;
  if (in.mode & (punch | zero)) zero_bytes(node, in.offset, in.length);
  if (!(in.mode & keep)) node.live.size = std::max(node.live.size, in.offset + in.length);
  return 0;
}

int begin(const Request &, Answer &answer) {
  fuse_init_out out = {};
  out.major = FUSE_KERNEL_VERSION;
  out.minor = FUSE_KERNEL_MINOR_VERSION;
  out.max_readahead = kMostWritten;
  out.max_write = kMostWritten;
  out.max_pages = kMostWritten / kPage;
  out.flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES;
  out.time_gran = 1000000000;
  add(answer, out);
  return 0;
}

int answer_to(const Request &request, Answer &answer) {
  const uint64_t id = request.head.nodeid;
  if (request.head.opcode == FUSE_INIT) return begin(request, answer);
  if (!nodes.count(id)) return ENOENT;
  Node &node = nodes[id];
  switch (request.head.opcode) {
    case FUSE_LOOKUP: {
      const auto found = node.entries.find(request.name());
      if (found == node.entries.end()) return ENOENT;
      add_entry(answer, nodes[found->second]);
      return 0;
    }
    case FUSE_GETATTR: add_attributes(answer, node); return 0;
    case FUSE_SETATTR: return set_attributes(request, node, answer);
    case FUSE_MKNOD:
      return make(request, node, request.name(sizeof(fuse_mknod_in)),
                  request.as<fuse_mknod_in>().mode, answer);
    case FUSE_CREATE:
      return make(request, node, request.name(sizeof(fuse_create_in)),
                  request.as<fuse_create_in>().mode, answer);
    case FUSE_MKDIR:
      return make(request, node, request.name(sizeof(fuse_mkdir_in)),
                  S_IFDIR | request.as<fuse_mkdir_in>().mode, answer);
    case FUSE_UNLINK:
    case FUSE_RMDIR: return remove(node, request.name());
    case FUSE_RENAME:
    case FUSE_RENAME2: return rename(request, node, answer);
    case FUSE_LINK: return link(request, node, answer);
    case FUSE_OPEN:
    case FUSE_OPENDIR: add(answer, fuse_open_out{}); return 0;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FLUSH: return 0;
    case FUSE_FSYNC:
    case FUSE_FSYNCDIR: sync_node(node); return 0;
    case FUSE_READDIR: return list(request, node, answer);
    case FUSE_READ: {
      const auto &in = request.as<fuse_read_in>();
      if (in.offset >= node.live.size) return 0;
      answer.resize(std::min<uint64_t>(in.size, node.live.size - in.offset));
      read_bytes(node.live, in.offset, answer.data(), answer.size());
      return 0;
    }
    case FUSE_WRITE: {
      const auto &in = request.as<fuse_write_in>();
      write_bytes(node, in.offset, request.body + sizeof in, in.size);
      add(answer, fuse_write_out{in.size, 0});
      return 0;
    }
    case FUSE_FALLOCATE: return allocate(request.as<fuse_fallocate_in>(), node);
    case FUSE_STATFS: {
      fuse_statfs_out out = {};
      out.st.blocks = out.st.bfree = out.st.bavail = 64 << 20;
      out.st.bsize = out.st.frsize = kPage;
      out.st.namelen = 255;
      add(answer, out);
      return 0;
    }
    default: return ENOSYS;  // the kernel does without
  }
}

void serve(int device) {
  std::vector<char> buffer(kMostWritten + kPage);
  sigset_t none;
  sigemptyset(&none);
  pollfd ready = {device, POLLIN, 0};
  for (;;) {
    // The signal comes here and nowhere else, so that none is missed.
    if (ppoll(&ready, 1, nullptr, &none) < 0 && errno != EINTR) return;
    if (is_cut) return;
    const ssize_t got = read(device, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
    if (got < 0) return;
    const auto &head = *reinterpret_cast<const fuse_in_header *>(buffer.data());
    if (head.opcode == FUSE_FORGET || head.opcode == FUSE_BATCH_FORGET ||
        head.opcode == FUSE_INTERRUPT) {
      continue;
    }
    Answer answer;
    const int error = answer_to({head, buffer.data() + sizeof head}, answer);
    if (error) answer.clear();
    Answer whole;
    const auto length = static_cast<uint32_t>(sizeof(fuse_out_header) + answer.size());
    add(whole, fuse_out_header{length, -error, head.unique});
    whole.insert(whole.end(), answer.begin(), answer.end());
    // Fails where whoever asked was killed meanwhile.
    if (write(device, whole.data(), whole.size()) < 0 && errno != ENOENT) return;
  }
}

}  // namespace

int main(int count, char **words) {
  if (count < 3) return fprintf(stderr, "power_cut DIRECTORY MOUNT [SEED]\n"), 2;
  load(make_node(nullptr, "", S_IFDIR | 0755), words[1]);
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  const std::string options = "rootmode=40000,user_id=" + std::to_string(getuid()) +
      ",group_id=" + std::to_string(getgid()) + ",fd=" + std::to_string(device);
  if (device < 0 || mount("power_cut", words[2], "fuse", MS_NOSUID | MS_NODEV, options.c_str())) {
    return perror("power_cut"), 1;
  }
  struct sigaction action = {};
  action.sa_handler = [](int) { is_cut = 1; };
  sigaction(SIGTERM, &action, nullptr);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  puts("ready");
  fflush(stdout);
  serve(device);
  const size_t unsynced = cut(count > 3 ? static_cast<unsigned>(atoi(words[3])) : 0);
  umount2(words[2], MNT_DETACH);
  close(device);
  std::filesystem::remove_all(words[1]);
  store(nodes[FUSE_ROOT_ID], words[1]);
  printf("%zu\n", unsynced);
  return 0;
}
