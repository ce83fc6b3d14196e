// @module-tag all
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { isSquadError } from '../../../src/model/errors.ts';
import { openBench } from './support.ts';

/** Answers what a probe asks, and nothing else. */
const PROGRAM = '#!/bin/sh\ncase "$1" in --version) echo "9.9.9";; esac\n';
const KEYS = { ANTHROPIC_API_KEY: 'sk-of-a-test', CODEX_API_KEY: 'sk-of-a-test' };

/** Of the real adapters, without a turn. docs/armory.md has the whole table. */
it.each<[runtime: string, field: string, refusal: RegExp | undefined]>([
  ['claude', 'ask: human', /^squad\.yaml:5: ann: ask: claude cannot honour ask$/m],
  ['claude', 'effort: max', undefined],
  ['claude', 'deny: ["Bash(rm:*)"]', undefined],
  ['claude', 'skills: [review]', undefined],
  ['claude', 'network: true', undefined],
  [
    'claude',
    'mcp: [{ name: desk, command: node, args: ["--home=${HOME}"] }]',
    /^squad\.yaml:5: ann: mcp: claude would replace/m,
  ],
  ['codex', 'ask: human', /^squad\.yaml:5: ann: ask: codex cannot honour ask$/m],
  ['codex', 'deny: [Bash]', /^squad\.yaml:5: ann: deny: codex confines by sandbox, not by tool rules$/m],
  ['codex', 'allow: [Bash]', /^squad\.yaml:5: ann: allow: codex confines by sandbox, not by tool rules$/m],
  ['codex', 'network: true', undefined],
  ['codex', 'effort: high', undefined],
  [
    'scripted',
    'hooks: [{ on: turn-ended, run: "true" }]',
    /^squad\.yaml:5: ann: hooks: scripted cannot honour hooks$/m,
  ],
  ['scripted', 'home: mine', /^squad\.yaml:5: ann: home: scripted cannot honour home$/m],
  ['scripted', 'effort: low', /^squad\.yaml:5: ann: effort: effort does not apply to a script$/m],
  [
    'scripted',
    'mcp: [{ name: web, url: "https://example.org" }]',
    /^squad\.yaml:5: ann: mcp: mcp works over stdio only/m,
  ],
  ['scripted', 'skills: [review]', undefined],
  ['scripted', 'env: [HOME]', undefined],
])('%s and %s', async (runtime, field, refusal) => {
  const bench = openBench();
  const program = join(bench.root, 'program');
  writeFileSync(program, PROGRAM);
  chmodSync(program, 0o755);
  const script = join(bench.root, 'script.json');
  writeFileSync(script, '{"turns":[]}');
  mkdirSync(join(bench.repository, 'review'));
  bench.write('review/SKILL.md', '---\nname: review\ndescription: How to review.\n---\n');
  const settings = runtime === 'scripted' ? `config: { script: ${script} }` : `command: ${program}`;
  bench.write(
    'squad.yaml',
    `agents:\n  - name: ann\n    role: builder\n    runtime: ${runtime}\n    ${field}\nruntimes: { ${runtime}: { ${settings} } }\n`,
  );
  const host = bench.host({ environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...KEYS } });
  const before = bench.traces();
  const { runtime: make } = compose(host);
  const refused: unknown = await bench.run({ yes: true }, { host, runtime: make }).catch((error: unknown) => error);
  expect(isSquadError(refused) ? refused.message : undefined).toEqual(
    refusal === undefined ? undefined : expect.stringMatching(refusal),
  );
  expect(bench.traces().filter((trace) => !/state/.test(trace))).toEqual(
    before.filter((trace) => !/state/.test(trace)),
  );
});
