// The file of a graph: a header with a checksum, followed by the output of usearch. Replaced as a whole.
// Layout: docs/formats/vector-index.md.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "vector/files/vector_file.h"
#include "vector/graph/vector_graph.h"

namespace mds {

[[nodiscard]] Status save_graph(const std::string& directory, const VectorFileName& name, const VectorGraph& graph);
// Returns null if there is no graph, or if the graph does not match the slots of the view.
[[nodiscard]] std::unique_ptr<VectorGraph> load_graph(const std::string& directory, const VectorFileName& name, const SetView& view);

}  // namespace mds
