import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts', cli: 'src/cli/main.ts' },
  platform: 'node',
  target: 'node22.14',
  dts: true,
});
