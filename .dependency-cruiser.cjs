// Which file may import which. The layers themselves stand in scripts/layers.cjs.
const { layers, beside, adapters, doors } = require("./scripts/layers.cjs")

const under = (folders) => `^src/(${folders.join("|")})/`
const packages = ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-bundled", "npm-no-pkg", "npm-unknown"]
const builtins = ["core"]

/** Type imports count: a type that points upwards ties two layers together just as well. */
module.exports = {
  forbidden: [
    ...layers.map((layer, height) => ({
      name: `${layer}-imports-downwards`,
      severity: "error",
      from: { path: under([layer]) },
      to: { path: [doors, under([...layers.slice(height + 1), ...beside])] },
    })),
    {
      name: "siblings-do-not-know-each-other",
      comment: "What two capabilities share belongs in infrastructure or contract; what joins them belongs above.",
      severity: "error",
      from: { path: "^src/capability/([^/]+)/" },
      to: { path: "^src/capability/", pathNot: "^src/capability/$1/" },
    },
    {
      name: "only-doors-name-adapters",
      comment: "An adapter may use another, as a model uses a transport.",
      severity: "error",
      from: { path: "^src/", pathNot: [doors, under(adapters)] },
      to: { path: under(adapters) },
    },
    {
      name: "enter-through-the-doors",
      severity: "error",
      from: { path: under(beside) },
      to: { path: under(layers) },
    },
    {
      name: "nothing-imports-cli",
      comment: "cli is the composition root: it starts the others, never the other way round.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/cli/" },
      to: { path: "^src/cli/" },
    },
    {
      name: "contract-and-orchestration-do-no-io",
      severity: "error",
      from: { path: under(["contract", "orchestration"]) },
      to: { dependencyTypes: [...packages, ...builtins] },
    },
    {
      name: "core-depends-on-no-package",
      comment: "Only the programs beside the layers have packages, and an adapter may load its optional peer.",
      severity: "error",
      from: { path: "^src/", pathNot: [under(["cli", "evals", "studio"]), under(adapters)] },
      to: { dependencyTypes: packages },
    },
    {
      name: "root-door-runs-anywhere",
      comment: "Nothing that the root door reaches is a package or part of Node.",
      severity: "error",
      from: { path: "^src/index\\.ts$" },
      to: { pathNot: ["^src/", "^\\.\\.?/.+\\.ts$"], reachable: true },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "every-import-resolves", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: ["^dist/", "^tests/"] },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
}
