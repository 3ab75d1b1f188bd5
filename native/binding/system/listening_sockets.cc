#include "binding/system/listening_sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "binding/call.h"
#include "binding/function.h"

namespace mds::binding {
namespace {

// Connections that the kernel keeps until the thread that accepts them has started.
constexpr int kBacklog = 512;

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) (void)close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  int release() noexcept {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

std::string reason() { return std::strerror(errno); }

// Why the socket file can't be replaced; empty: whoever listened on it has ended.
std::string hold_on(const sockaddr_un& address) {
  // Without waiting: the queue of a server that has stopped accepting may be full.
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.is_open()) return reason();
  if (connect(probe.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return "in use";
  if (errno == ECONNREFUSED || errno == ENOENT) return {};
  // A full queue, or a socket for datagrams that a process has open.
  return errno == EAGAIN || errno == EPROTOTYPE ? "in use" : reason();
}

// Makes way for a socket at the path: removes one that a dead process has left, and nothing else.
std::string free_path(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return "the path is too long";
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return errno == ENOENT ? std::string() : reason();
  if (!S_ISSOCK(status.st_mode)) return "a file that is no socket is there";
  std::string failure = hold_on(address);
  if (failure.empty() && unlink(path.c_str()) != 0 && errno != ENOENT) failure = reason();
  return failure;
}

std::string listen_on_path(const std::string& path, Descriptor& opened) {
  sockaddr_un address{};
  std::string failure = free_path(path, address);
  if (!failure.empty()) return failure;
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // The mode of the socket becomes that of its file, so there is no moment at which others may connect.
  if (!made.is_open() || fchmod(made.number(), S_IRUSR | S_IWUSR) != 0) return reason();
  if (bind(made.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return reason();
  if (listen(made.number(), kBacklog) != 0) return reason();
  opened = std::move(made);
  return {};
}

std::string listen_on_address(const addrinfo& address, Descriptor& opened) {
  Descriptor made(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) return reason();
  const int yes = 1;
  const int no = 0;
  if (setsockopt(made.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0) return reason();
  // One socket for both protocols where all interfaces are meant.
  if (address.ai_family == AF_INET6 && setsockopt(made.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) != 0) return reason();
  if (bind(made.number(), address.ai_addr, address.ai_addrlen) != 0 || listen(made.number(), kBacklog) != 0) return reason();
  opened = std::move(made);
  return {};
}

std::string listen_on_port(const std::string& host, uint32_t port, Descriptor& opened) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  // All interfaces: the unspecified address of IPv6 means both protocols; a machine may have IPv4 alone.
  const std::vector<std::string> names = host.empty() ? std::vector<std::string>{"::", "0.0.0.0"} : std::vector<std::string>{host};
  std::string failure = "not an address of this machine";
  for (const std::string& name : names) {
    addrinfo* found = nullptr;
    if (getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) continue;
    failure = listen_on_address(*found, opened);
    freeaddrinfo(found);
    if (failure.empty()) break;
  }
  return failure;
}

uint32_t port_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port) : 0;
}

napi_value open_listening(const Call& call) {
  const std::optional<std::string> host = call.text(0);
  const std::optional<uint32_t> port = call.number(1);
  const std::optional<std::string> path = call.text(2);
  if (!host || !port || !path) return call.raise_type("openListening: host, port, path");
  Descriptor opened(-1);
  const std::string failure = path->empty() ? listen_on_port(*host, *port, opened) : listen_on_path(*path, opened);
  if (!failure.empty()) return call.raise(failure.c_str());
  napi_value answer = nullptr;
  if (napi_create_object(call.env(), &answer) != napi_ok) return call.raise("openListening: no memory");
  set_number(call.env(), answer, "port", port_of(opened.number()));
  set_number(call.env(), answer, "descriptor", static_cast<uint64_t>(opened.number()));
  if (answer != nullptr) (void)opened.release();
  return answer;
}

napi_value free_socket_path(const Call& call) {
  const std::optional<std::string> path = call.text(0);
  if (!path) return call.raise_type("freeSocketPath: path");
  sockaddr_un address{};
  const std::string failure = free_path(*path, address);
  return failure.empty() ? nullptr : call.raise(failure.c_str());
}

// The waits of the process, by the descriptor that is waited on: the eventfd that ends each.
class Waits {
 public:
  // Never destroyed: threads may wait while the process ends.
  static Waits& of_process() {
    static Waits& waits = *new Waits();
    return waits;
  }

  void begin(int descriptor, int end) {
    const std::lock_guard guard(mutex_);
    ends_[descriptor] = end;
  }

  // Its connection has come.
  void forget(int descriptor) {
    const std::lock_guard guard(mutex_);
    ends_.erase(descriptor);
  }

  void end(int descriptor) {
    const std::lock_guard guard(mutex_);
    const auto found = ends_.find(descriptor);
    if (found == ends_.end()) return;
    const uint64_t one = 1;
    (void)!write(found->second, &one, sizeof one);
    ends_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::map<int, int> ends_;
};

// In a thread of its own, which holds its eventfd and a copy of the socket.
void wait_for_connection(int descriptor, Descriptor socket, Descriptor end, napi_threadsafe_function call) {
  pollfd watched[] = {{socket.number(), POLLIN, 0}, {end.number(), POLLIN, 0}};
  while (poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
  const bool hasEnded = watched[1].revents != 0;
  if (!hasEnded) {
    Waits::of_process().forget(descriptor);
    (void)napi_call_threadsafe_function(call, nullptr, napi_tsfn_nonblocking);
  }
  (void)napi_release_threadsafe_function(call, napi_tsfn_release);
}

napi_value on_connection(const Call& call) {
  const std::optional<uint32_t> descriptor = call.number(0);
  if (!descriptor) return call.raise_type("onConnection: descriptor, call");
  const int number = static_cast<int>(*descriptor);
  Descriptor socket(fcntl(number, F_DUPFD_CLOEXEC, 0));
  Descriptor end(eventfd(0, EFD_CLOEXEC));
  if (!socket.is_open() || !end.is_open()) return call.raise(reason().c_str());
  napi_value name = nullptr;
  napi_threadsafe_function function = nullptr;
  if (napi_create_string_utf8(call.env(), "onConnection", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_threadsafe_function(call.env(), call.value(1), nullptr, name, 0, 1, nullptr, nullptr, nullptr, nullptr, &function) != napi_ok)
    return call.raise_type("onConnection: descriptor, call");
  Waits::of_process().begin(number, end.number());
  std::thread(wait_for_connection, number, std::move(socket), std::move(end), function).detach();
  return nullptr;
}

napi_value copy_descriptor(const Call& call) {
  const std::optional<uint32_t> descriptor = call.number(0);
  if (!descriptor) return call.raise_type("copyDescriptor: descriptor");
  const int copy = fcntl(static_cast<int>(*descriptor), F_DUPFD_CLOEXEC, 0);
  napi_value answer = nullptr;
  if (copy < 0) return call.raise(reason().c_str());
  if (napi_create_int32(call.env(), copy, &answer) == napi_ok) return answer;
  (void)close(copy);
  return call.raise("copyDescriptor: no memory");
}

napi_value close_descriptor(const Call& call) {
  const std::optional<uint32_t> descriptor = call.number(0);
  if (!descriptor) return call.raise_type("closeDescriptor: descriptor");
  Waits::of_process().end(static_cast<int>(*descriptor));
  (void)close(static_cast<int>(*descriptor));
  return nullptr;
}

}  // namespace

bool add_listening_sockets(napi_env env, napi_value exports) noexcept {
  return add_function<open_listening>(env, exports, "openListening") && add_function<free_socket_path>(env, exports, "freeSocketPath") &&
         add_function<copy_descriptor>(env, exports, "copyDescriptor") && add_function<close_descriptor>(env, exports, "closeDescriptor") &&
         add_function<on_connection>(env, exports, "onConnection");
}

}  // namespace mds::binding
