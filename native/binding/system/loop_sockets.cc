#include "binding/system/loop_sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "binding/call.h"
#include "binding/function.h"

// Of libuv, which Node.js exports; its headers are not in the package of Node-API's headers.
extern "C" {
struct uv_loop_s;
struct uv_handle_s;
void uv_walk(uv_loop_s* loop, void (*visit)(uv_handle_s* handle, void* argument), void* argument);
void uv_close(uv_handle_s* handle, void (*closed)(uv_handle_s* handle));
int uv_is_closing(const uv_handle_s* handle);
int uv_fileno(const uv_handle_s* handle, int* descriptor);
int uv_handle_get_type(const uv_handle_s* handle);
const char* uv_handle_type_name(int type);
}

namespace mds::binding {
namespace {

// uWebSockets.js has a poll handle for each socket, and nothing else in a thread of this server has one.
bool is_open_poll(const uv_handle_s* handle) noexcept {
  const char* type = uv_handle_type_name(uv_handle_get_type(handle));
  return type != nullptr && std::strcmp(type, "poll") == 0 && uv_is_closing(handle) == 0;
}

// The memory of a handle belongs to the package, which does not free it any more.
void close_poll(uv_handle_s* handle, void* /*argument*/) noexcept {
  if (!is_open_poll(handle)) return;
  int descriptor = -1;
  const bool isOpen = uv_fileno(handle, &descriptor) == 0;
  uv_close(handle, nullptr);
  if (isOpen) (void)close(descriptor);
}

// Hooks run in reverse order, so this one runs before that of the package, which ends its loop.
void close_sockets(void* loop) noexcept { uv_walk(static_cast<uv_loop_s*>(loop), close_poll, nullptr); }

napi_value close_sockets_at_exit(const Call& call) {
  uv_loop_s* loop = nullptr;
  if (napi_get_uv_event_loop(call.env(), &loop) != napi_ok || napi_add_env_cleanup_hook(call.env(), close_sockets, loop) != napi_ok)
    return call.raise("closeSocketsAtExit: no clean-up at the thread's end");
  return nullptr;
}

// Connections inherit the option of the socket that accepts them. A socket that has no such option is left.
void bound_listener(uv_handle_s* handle, void* bytes) noexcept {
  int descriptor = -1;
  if (!is_open_poll(handle) || uv_fileno(handle, &descriptor) != 0) return;
  int isListening = 0;
  socklen_t length = sizeof isListening;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) != 0 || isListening == 0) return;
  (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, bytes, sizeof(int));
}

napi_value bound_receive_buffers(const Call& call) {
  const std::optional<uint32_t> given = call.number(0);
  uv_loop_s* loop = nullptr;
  if (!given || napi_get_uv_event_loop(call.env(), &loop) != napi_ok) return call.raise_type("boundReceiveBuffers(bytes)");
  int bytes = static_cast<int>(*given);
  uv_walk(loop, bound_listener, &bytes);
  return nullptr;
}

}  // namespace

bool add_loop_sockets(napi_env env, napi_value exports) noexcept {
  return add_function<close_sockets_at_exit>(env, exports, "closeSocketsAtExit") && add_function<bound_receive_buffers>(env, exports, "boundReceiveBuffers");
}

}  // namespace mds::binding
