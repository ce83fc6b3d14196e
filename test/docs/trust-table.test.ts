import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sprintSettingsSchema } from '../../src/model/sprint/settings.ts';
import { limitsOfRun } from '../../src/squad/preflight/run-limits.ts';
import { scheduleItems } from '../../src/squad/preflight/schedule-items.ts';
import { actionItems } from '../../src/squad/preflight/action-items.ts';
import { channelItems } from '../../src/squad/preflight/channel-items.ts';
import { forgeItems } from '../../src/squad/preflight/forge-items.ts';
import { discoveryItems } from '../../src/squad/preflight/discovery-items.ts';
import { itemsToTrust } from '../../src/squad/preflight/trust.ts';
import { parseSettings, rawSettings } from '../../src/squad/settings/parse-settings.ts';
import { asObject, isJsonObject, objectsIn } from '../../src/text/json.ts';
import { KNOWN_NAMES } from '../support/known-names.ts';

const file = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

/** Every key that has no keys of its own below it, as docs/trust.md writes it. */
function leaves(): string[] {
  const schema = asObject(JSON.parse(file('docs/schemas/squad.schema.json')));
  const found = new Set<string>();
  const visit = (node: unknown, path: readonly string[], within: readonly string[] = []): void => {
    if (!isJsonObject(node)) return;
    const { $ref, properties, items, additionalProperties } = node;
    if (typeof $ref === 'string') {
      // Any JSON refers to itself.
      if (within.includes($ref)) return;
      return visit(asObject(schema['$defs'])[$ref.split('/').at(-1) ?? ''], path, [...within, $ref]);
    }
    for (const kind of ['anyOf', 'oneOf', 'allOf']) for (const one of objectsIn(node[kind])) visit(one, path, within);
    visit(items, path, within);
    for (const [key, value] of Object.entries(asObject(properties))) {
      found.add([...path, key].join('.'));
      visit(value, [...path, key], within);
    }
    if (isJsonObject(additionalProperties)) visit(additionalProperties, [...path, 'NAME'], within);
  };
  visit(schema, []);
  const all = [...found].map((path) => path.replace(/^runtimes\.(?!acp(?:\.|$))[^.]+/, 'runtimes.NAME'));
  const isInner = (path: string): boolean => all.some((other) => other.startsWith(`${path}.`));
  // A name or a word alone says something, too.
  return [
    ...new Set(
      all.filter(
        (path) => !isInner(path) || ['playbook', 'playbook.stages.session', 'sprint.discovery'].includes(path),
      ),
    ),
  ];
}

const [, section = ''] = file('docs/trust.md').split('## Which settings squad asks about\n');
const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]*) \| ([^|]*) \| ([^|]*) \|$/gm)].map(
  ([, names = '', , asked = '']) => ({ names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name), asked }),
);
const asked = rows.filter((row) => row.asked.startsWith('yes')).flatMap(({ names }) => names);

const agent = (more: string): string => `agents: [{ name: a, role: builder, runtime: claude, ${more} }]`;
const acp = (more: string): string => `runtimes: { acp: { agents: { mine: { command: x, ${more} } } } }`;
const stage = (more: string): string =>
  `playbook: { stages: [{ id: A, by: [builder], brief: "{objective}", makes: code }, { id: B, by: [reviewer], brief: b, ${more} }] }`;

const joined = (more: string, path = '../api'): string => `repositories: [{ path: ${path}, role: x, ${more} }]`;

/** Settings that use the key, and that somebody has to agree to because of it; absent: as `EXAMPLES` makes it of the key. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'setup.run': 'setup: [{ run: x }]',
  'verify.run': 'verify: [{ run: x }]',
  'setup.env': 'setup: [{ run: x, env: [PWN] }]',
  'setup.reuse': 'setup: [{ run: x, reuse: PWN, when: y }]',
  'setup.when': 'setup: [{ run: x, reuse: y, when: PWN }]',
  'verify.env': 'verify: [{ run: x, env: [PWN] }]',
  env: 'env: [PWN]',
  'repositories.path': joined('verify: []', 'PWN'),
  'repositories.remote': 'repositories: [{ remote: https://example.org/a/PWN, role: x }]',
  'repositories.role': joined('verify: []'),
  'repositories.name': joined('name: pwn, verify: [{ run: x }]'),
  'repositories.setup.run': joined('setup: [{ run: PWN }]'),
  'repositories.verify.run': joined('verify: [{ run: PWN }]'),
  'repositories.setup.env': joined('setup: [{ run: x, env: [PWN] }]'),
  'repositories.verify.env': joined('verify: [{ run: x, env: [PWN] }]'),
  'repositories.setup.reuse': joined('setup: [{ run: x, reuse: PWN, when: y }]'),
  'repositories.setup.when': joined('setup: [{ run: x, reuse: y, when: PWN }]'),
  copy: 'copy: [PWN]',
  notify: 'notify: x',
  'playbook.stages.makes.checks': stage('makes: { checks: [x] }'),
  'playbook.stages.review.rounds': stage('makes: code, review: { id: R, by: [tester], rounds: 5 }'),
  'playbook.stages.judges.rounds': stage('makes: { answer: verdict }, judges: { rounds: 5, else: { redo: A } }'),
  'runtimes.NAME.command': 'runtimes: { claude: { command: ./x } }',
  'runtimes.NAME.config': 'runtimes: { codex: { config: { a: b } } }',
  'runtimes.NAME.env': 'runtimes: { claude: { env: [AWS_KEY] } }',
  'runtimes.acp.agents.NAME.command': acp('env: []'),
  'runtimes.acp.agents.NAME.args': acp('args: [PWN]'),
  'runtimes.acp.agents.NAME.auth': acp('auth: PWN'),
  'runtimes.acp.agents.NAME.quirks': acp('quirks: { a: PWN }'),
  'runtimes.acp.agents.NAME.env': acp('env: [PWN]'),
  'agents.env': agent('env: [AWS_KEY]'),
  'agents.access': agent('access: full'),
  'agents.network': agent('network: true'),
  'agents.home': agent('home: mine'),
  'agents.allow': agent('allow: [X]'),
  'agents.skills': agent('skills: [/opt/x]'),
  'agents.model': agent('model: x'),
  'agents.effort': agent('effort: max'),
  models: 'models: { planner: x }',
  'agents.mcp.name': agent('mcp: [{ name: pwn, command: x }]'),
  'agents.mcp.command': agent('mcp: [{ name: a, command: PWN }]'),
  'agents.mcp.args': agent('mcp: [{ name: a, command: x, args: [PWN] }]'),
  'agents.mcp.cwd': agent('mcp: [{ name: a, command: x, cwd: task }]'),
  'agents.mcp.env': agent('mcp: [{ name: a, command: x, env: [PWN] }]'),
  'agents.mcp.url': agent('mcp: [{ name: a, url: "https://PWN" }]'),
  'agents.mcp.headers': agent('mcp: [{ name: a, url: "https://x", headers: { A: PWN } }]'),
  'agents.hooks.run': agent('hooks: [{ on: turn-ended, run: PWN }]'),
  'agents.hooks.on': agent('hooks: [{ on: turn-ended, run: x }]'),
  'agents.hooks.cwd': agent('hooks: [{ on: turn-ended, run: x, cwd: task }]'),
  'agents.hooks.tool': agent('hooks: [{ on: tool-ended, tool: PWN, run: x }]'),
  'limits.walls': 'limits: { walls: [retry] }',
  'limits.minutes': 'limits: { minutes: 20000 }',
  'limits.idleMinutes': 'limits: { idleMinutes: 20000 }',
  'limits.turnMinutes': 'limits: { turnMinutes: 20000 }',
  'limits.retries': 'limits: { retries: 20 }',
  'limits.reviewRounds': 'limits: { reviewRounds: 20 }',
  'limits.parallel': 'limits: { parallel: 64 }',
  'publish.remote': 'publish: { remote: PWN }',
  'publish.pr': 'publish: { pr: true }',
  'publish.base': 'publish: { pr: true, base: PWN }',
  'publish.draft': 'publish: { pr: true, draft: true }',
  'publish.reviewers': 'publish: { pr: true, reviewers: [PWN] }',
  'publish.labels': 'publish: { pr: true, labels: [PWN] }',
  ...Object.fromEntries(
    ['days', 'rounds', 'by'].map((key) => [
      `publish.follow.${key}`,
      'publish: { pr: true, follow: { days: 3, rounds: 2, by: [owner] } }',
    ]),
  ),
  'publish.merge': 'publish: { pr: true, follow: true, merge: when-approved }',
  ...Object.fromEntries(
    ['name', 'cron', 'timezone', 'objective', 'playbook', 'skipIf'].map((key) => [
      `schedules.${key}`,
      'schedules: [{ name: n, cron: 0 2 * * *, timezone: UTC, objective: PWN, playbook: objective, skipIf: active }]',
    ]),
  ),
  ...Object.fromEntries(
    [
      ['type', 'type: webhook, secret: A, url: "https://PWN"'],
      ['token', 'type: discord, token: PWN'],
      ['api', 'type: discord, token: A, api: "https://PWN"'],
      ['places', 'type: discord, token: A, places: ["1298374650123456789"]'],
      ['secret', 'type: webhook, secret: PWN, url: "https://x"'],
      ['url', 'type: webhook, secret: A, url: "https://PWN"'],
      ['report', 'type: webhook, secret: A, url: "https://x", report: PWN'],
      ['poll', 'type: webhook, secret: A, url: "https://x", poll: "https://PWN"'],
      ['listen.port', 'type: webhook, secret: A, url: "https://x", listen: { port: 8080 }'],
      ['listen.host', 'type: webhook, secret: A, url: "https://x", listen: { port: 8080, host: PWN }'],
      ['senders', 'type: webhook, secret: A, url: "https://x", senders: { PWN: [control] }'],
      ['messagesPerHour', 'type: webhook, secret: A, url: "https://x", messagesPerHour: 999, senders: { PWN: [ask] }'],
    ].map(([key, channel]) => [`channels.NAME.${key}`, `channels: { c: { ${channel} } }`]),
  ),
  'actions.NAME.run': 'actions: { a: { run: PWN } }',
  'actions.NAME.args': 'actions: { a: { run: x, args: 3 } }',
  ...Object.fromEntries(
    ['remote', 'intake.label', 'intake.by', 'intake.max', 'intake.playbooks'].map((key) => [
      `forge.${key}`,
      'forge: { remote: PWN, intake: { label: PWN, by: [owner], max: 99, playbooks: { PWN: solo } } }',
    ]),
  ),
  'sprint.discovery': 'sprint: { discovery: [PWN] }',
  'sprint.discovery.action': 'sprint: { discovery: [{ action: pwn }] }',
  'sprint.discovery.args': 'sprint: { discovery: [{ action: a, args: [PWN] }] }',
  'schedules.from': 'schedules: [{ name: n, cron: 0 2 * * *, timezone: UTC, from: PWN }]',
  'tracing.to': 'tracing: { to: langsmith }',
  'tracing.endpoint': 'tracing: { to: otlp, endpoint: "https://PWN" }',
  'tracing.project': 'tracing: { to: langsmith, project: PWN }',
  'tracing.content': 'tracing: { to: langsmith, content: true }',
  'tracing.headers': 'tracing: { to: otlp, endpoint: "https://x", headers: { A: PWN } }',
};

const OWN =
  'limits: { tokens: 9, task: { minutes: 9, usd: 9, turns: 9, tokens: 9 } }\nagents: [{ name: a, role: builder, runtime: claude, limits: { minutes: 9, usd: 9, turns: 9, tokens: 9, parallel: 1 } }]';

function exampleOf(path: string): string {
  const known = EXAMPLES[path];
  if (known !== undefined) return known;
  const name = path.split('.').at(-1) ?? '';
  const value =
    name === 'parallel'
      ? 64
      : name.endsWith('Minutes')
        ? 20_000
        : ['minutes', 'unreplicated'].includes(name)
          ? 20_000
          : 80_000;
  if (path.startsWith('agents.limits.')) return agent(`limits: { ${name}: ${value} }`);
  return path.startsWith('limits.task.') ? `limits: { task: { ${name}: ${value} } }` : `limits: { ${name}: ${value} }`;
}

/** What squad shows of these settings of a repository. */
function shown(text: string): string[] {
  const read = (from: string, whose: 'own' | 'repository') => {
    const parsed = parseSettings(from, 'squad.yaml', KNOWN_NAMES, whose);
    if (!parsed.ok) throw new Error(`${from}: ${parsed.problems[0]?.message ?? ''}`);
    return { file: 'squad.yaml', text: from, raw: rawSettings(from), settings: parsed.value };
  };
  const [repository, own] = [read(text, 'repository'), read(OWN, 'own')];
  const all = { ...repository, repository, own };
  const limits = limitsOfRun({}, { file: 'o.md', text: '', frontMatter: {} }, all, true);
  const items = itemsToTrust(repository.settings, { file: 'o.md', criteria: [] }, repository, {});
  const { schedules = [] } = repository.settings;
  const bySchedules = schedules.flatMap((schedule, index) => scheduleItems(schedule, index, repository));
  const { discovery } = sprintSettingsSchema.parse(asObject(repository.raw)['sprint'] ?? {});
  const byTeam = discoveryItems(discovery, repository);
  const byChannels = Object.entries(repository.settings.channels ?? {}).flatMap(([name, channel]) =>
    channelItems(name, channel, repository),
  );
  const byActions = Object.entries(repository.settings.actions ?? {}).flatMap(([name, action]) =>
    actionItems(name, action, repository),
  );
  const { forge } = repository.settings;
  const byForge = forge === undefined ? [] : forgeItems(forge, repository);
  return [...items, ...byForge, ...bySchedules, ...byTeam, ...byChannels, ...byActions, ...limits.items].map(
    ({ run }) => run,
  );
}

describe('the table of settings in docs/trust.md', () => {
  it('has every key of squad.yaml once, and no other', () => {
    expect(rows.flatMap(({ names }) => names).toSorted()).toEqual(leaves().toSorted());
  });

  it('gives a reason wherever squad does not ask', () => {
    for (const { names, asked: cell } of rows) expect(cell, names[0]).toMatch(/^(?:yes(?:, .+)?|no: .{10,})$/);
  });

  it.each(asked)('squad asks about %s', (path) => {
    const items = shown(exampleOf(path));
    expect(items).not.toEqual([]);
    if (exampleOf(path).includes('PWN')) expect(items.join('\n')).toContain('PWN');
  });

  it('squad does not ask about the others', () => {
    const harmless = `version: 1
strict: true
plan: auto
playbook: objective
setup: []
mail: { locale: zh, ttlMinutes: 5, routes: { a: [b] } }
team: { members: 26, windowName: x }
council: { document: a.md, reviewMinutes: 900, assignMinutes: 900 }
objective: { documents: drop, whenNotConverging: stop }
runtimes: { claude: { fallback: codex } }
limits: { usd: 1, walls: [fail] }
agents: [{ name: a, role: builder, runtime: claude, access: edit, commits: false, instructions: a.md, deny: [X], ask: human, limits: { usd: 2 } }]
`;
    expect(shown(harmless)).toEqual([]);
  });
});
