// Tests that pack and install the package or need minutes: `npm run test:slow`, and always before a merge.
import type { ViteUserConfig } from "vitest/config"
import { defineConfig } from "vitest/config"
import { alias } from "./vitest.config.ts"

const config: ViteUserConfig = defineConfig({
  resolve: { alias },
  test: {
    include: ["tests/slow/**/*.slow.ts"],
    exclude: ["tests/fixtures/**"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})

export default config
