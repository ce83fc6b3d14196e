import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts', cli: 'src/cli/main.ts' },
  platform: 'node',
  target: 'node22.14',
  dts: true,
  deps: {
    // It depends on a better-sqlite3 of its own, of an older kind; overrides do not reach those who install squad. What it
    // imports stays outside the bundle.
    alwaysBundle: ['@langchain/langgraph-checkpoint-sqlite'],
  },
  // Programs that squad starts as processes of their own; their modules find them beside themselves.
  copy: ['src/substrate/process/turn-wrapper.sh', 'src/runtimes/scripted/player.mjs'],
});
