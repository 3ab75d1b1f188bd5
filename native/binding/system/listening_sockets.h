#pragma once

#include <node_api.h>

namespace mds::binding {

// Listening sockets that wait for their first connection without an event loop of Node.js behind them, so
// that the thread which will serve them need not exist before.
//
// openListening(host, port, path) binds and listens: on `path` if it is not empty, else on TCP; an empty host
// means all interfaces. Returns {descriptor, port}; throws the reason. The file of a unix socket is for its
// owner only, and replaces one on which nobody listens.
// freeSocketPath(path) makes way for such a file, for a program that binds by itself; throws the reason.
// copyDescriptor(descriptor) returns a descriptor of the same socket, to be given to another thread.
// closeDescriptor(descriptor) closes it; a wait on it ends without its call.
// onConnection(descriptor, call) calls once, when a connection waits to be accepted. Keeps the event loop of
// the calling thread alive until then.
[[nodiscard]] bool add_listening_sockets(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
