import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createMyRuntime } from '../../examples/forty-line-runtime.ts';
import { createCliRuntime } from '../../src/exports/runtime.ts';
import { runtimeConformance } from '../../src/testing/runtime-conformance.ts';
import { playerHarness } from '../support/scripted-harness.ts';
import { vitestRunner } from '../support/vitest-runner.ts';

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const harness = playerHarness(
  'a runtime in forty lines',
  ({ home, stateDirectory, environment, processes, clock }, script) => {
    const program = path('src/runtimes/scripted/player.mjs');
    const machine = { userHome: home, platform: process.platform, architecture: process.arch, isRoot: false };
    const settings = { ...machine, environment, allowEnvironment: [], stateDirectory, config: { program, script } };
    return createCliRuntime(createMyRuntime(settings, { node: process.execPath }), { processes, clock });
  },
  [
    { title: 'an MCP tool is called without approval', reason: 'its program speaks no MCP' },
    { title: 'a required MCP server that does not start fails the turn', reason: 'its program speaks no MCP' },
  ],
);

runtimeConformance(
  vitestRunner(() => false),
  harness,
);

it('is what CONTRIBUTING.md shows, in forty lines and its wire schema', () => {
  const source = readFileSync(path('examples/forty-line-runtime.ts'), 'utf8');
  expect(readFileSync(path('CONTRIBUTING.md'), 'utf8')).toContain(source);
  const adapter = source.slice(source.indexOf('export function'));
  expect(adapter.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});
