// The layers of the house, in one place. Read by .dependency-cruiser.cjs (imports) and budgets.mjs (sizes).

/** From the bottom up. An import may only point downwards. */
const layers = ["contract", "infrastructure", "capability", "orchestration", "interface"]

/** Stand beside the layers and enter through the doors. */
const beside = ["builtin", "cli", "evals", "studio"]

/** Folders of adapters: implementations of a port. From outside such a folder only doors name what is in it. */
const adapters = ["capability/models", "infrastructure/bus", "infrastructure/store", "infrastructure/trace", "infrastructure/transport"]

const doors = "^src/(index|doors/[^/]+)\\.ts$"

module.exports = { layers, beside, adapters, doors }
