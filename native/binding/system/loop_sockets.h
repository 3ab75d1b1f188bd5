#pragma once

#include <node_api.h>

namespace mds::binding {

// The package uWebSockets.js closes no socket of a thread that ends by an error or is terminated: its
// connections would stay open without anybody to answer, and Node.js ends the whole process because of the
// open handles (CheckedUvLoopClose). closeSocketsAtExit() has the calling thread close all of them when it
// ends, whatever the reason. Once a thread, after the package has been loaded.
//
// boundReceiveBuffers(bytes) bounds the receive buffers of the connections that the calling thread accepts
// from then on. The package reads a socket on as long as each read is nearly as long as its own buffer of
// 512 KiB, also after the socket was paused: a client on the same machine would fill the memory. With shorter
// reads, a paused socket is not read. The kernel doubles the number for its own use.
[[nodiscard]] bool add_loop_sockets(napi_env env, napi_value exports) noexcept;

}  // namespace mds::binding
