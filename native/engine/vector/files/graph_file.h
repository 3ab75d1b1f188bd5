// The file of a graph: header and checksum, then what usearch writes. Replaced as a whole. Layout:
// docs/formats/vector-index.md.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "vector/files/vector_file.h"
#include "vector/graph/vector_graph.h"

namespace mds {

[[nodiscard]] Status save_graph(const std::string& directory, const VectorFileName& name, const VectorGraph& graph);
// Null where there is no graph, or none that can be used with the slots of the view.
[[nodiscard]] std::unique_ptr<VectorGraph> load_graph(const std::string& directory, const VectorFileName& name, const SetView& view);

}  // namespace mds
