import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { renderSettings } from '../../../src/squad/preflight/starter-files.ts';

const file = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const schema = z.fromJSONSchema(
  JSON.parse(file('docs/schemas/squad.schema.json')) as Parameters<typeof z.fromJSONSchema>[0],
);
const problem = (settings: unknown): string | undefined => {
  const issue = schema.safeParse(settings).error?.issues[0];
  return issue && `${issue.path.join('.')}: ${issue.message}`;
};
const examples = ['settings', 'acp', 'antigravity', 'checks', 'council', 'mail', 'stages'].flatMap((page) =>
  [...file(`docs/${page}.md`).matchAll(/```yaml\n([^]*?)```/g)].map(([, text = ''], index) => [
    `${page} ${index}`,
    text,
  ]),
);

const lists = ['one-task', 'diamond', 'chain', 'thirteen'].map((name) => [name, file(`examples/stages/${name}.yaml`)]);

describe('the JSON schema of squad.yaml', () => {
  it.each([...examples, ...lists, ['what squad init writes', renderSettings(['claude'], { verify: 'npm test' })]])(
    'takes %s',
    (_name, text) => {
      expect(problem(parse(text))).toBeUndefined();
    },
  );

  it.each([
    [{ agnts: [] }, /: Unrecognized key: "agnts"/],
    [{ agents: [{ name: 'a', role: 'b', runtime: 'cluade' }] }, /^agents\.0\.runtime: /],
    [{ agents: [{ name: 'a', role: 'b', runtime: 'acp/My' }] }, /^agents\.0\.runtime: /],
    [{ runtimes: { cluade: {} } }, /^runtimes: Unrecognized key: "cluade"/],
    [{ runtimes: { 'acp/mine': { comand: 'x' } } }, /^runtimes\.acp\/mine: Unrecognized key: "comand"/],
    [{ runtimes: { acp: { agents: { mine: {} } } } }, /^runtimes\.acp\.agents\.mine\.command: /],
    [{ limits: { usd: '5' } }, /^limits\.usd: /],
    [{ council: { reviewMinutes: 'soon' } }, /^council\.reviewMinutes: /],
    [{ playbook: { stages: [] } }, /^playbook/],
    [{ playbook: { stages: [{ id: 'A', by: ['builder'], brief: 'Do it.', makes: 'cod' }] } }, /^playbook/],
    [
      { playbook: { stages: [{ id: '1', by: ['builder'], brief: 'Do it.', makes: 'code' }] } },
      /^playbook\.stages\.0\.id/,
    ],
    [{ playbook: { stages: [{ id: 'A', by: [], brief: 'Do it.', makes: 'code' }] } }, /^playbook/],
  ])('does not take %j', (settings, wanted) => {
    expect(problem(settings)).toMatch(wanted);
  });
});
