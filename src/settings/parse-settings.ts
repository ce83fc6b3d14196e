import { isJsonObject, type Json } from '../text/json.ts';
import { DEFAULT_PLAYBOOK } from '../model/playbook-name.ts';
import { settingsSchema, settingsSchemaFor, type KnownNames, type Settings } from '../model/settings.ts';
import type { Path } from '../text/explain-issue.ts';
import { parseYaml, type YamlResult } from '../text/yaml-file.ts';

const EXAMPLES: Readonly<Record<string, string>> = {
  '': 'version: 1\nlimits: { minutes: 480 }',
  version: 'version: 1',
  playbook: `playbook: ${DEFAULT_PLAYBOOK}`,
  agents: 'agents:\n  - { name: builder-1, role: builder, runtime: claude, access: edit }',
  runtimes: 'runtimes:\n  claude: { command: claude, env: [ANTHROPIC_API_KEY], fallback: codex }',
  limits: 'limits: { minutes: 480, usd: 20, turns: 200, parallel: 6 }',
  setup: 'setup:\n  - { run: "npm ci", minutes: 10 }',
  verify: 'verify:\n  - { run: "npm test", minutes: 10 }',
  plan: 'plan: ask',
  notify: 'notify: notify-send squad "$SQUAD_TEXT"',
  publish: 'publish: { remote: origin, base: main, pr: false }',
  team: 'team: { terminal: tmux, members: 4, windowName: "team-{session}-{role}" }',
  mail: 'mail: { locale: en, ttlMinutes: 1440 }',
};

/** Keys under `limits.task` that limits of the run already set for each task. */
const HINTS = {
  rounds: 'set limits.reviewRounds, which holds for each task',
  reviewRounds: 'set limits.reviewRounds, which holds for each task',
  retries: 'set limits.retries, which holds for each task',
};

/** Parses the text of `squad.yaml` into settings with all defaults, or into all its problems in the file's order. */
export function parseSettings(text: string, fileName: string, known: KnownNames): YamlResult<Settings> {
  const ofSections = Object.entries(known.sections).map(([name, { example }]) => [name, example]);
  const examples = { ...EXAMPLES, ...Object.fromEntries(ofSections) };
  const source = { file: fileName, text, firstLine: 1, examples, hints: HINTS };
  return parseYaml(source, settingsSchemaFor(known), crossChecks);
}

/** The settings without a `squad.yaml`. */
export function defaultSettings(): Settings {
  return settingsSchema.parse({});
}

type Finding = { path: Path; message: string };

/** Works on the raw value, so that these problems are reported together with the schema's. */
function crossChecks(raw: Record<string, Json>): Finding[] {
  return [...sameNames(raw['agents']), ...ownFallbacks(raw['runtimes'])];
}

function sameNames(agents: Json | undefined): Finding[] {
  if (!Array.isArray(agents)) return [];
  const first = new Map<string, number>();
  return agents.flatMap((agent, index) => {
    const name = isJsonObject(agent) ? agent['name'] : undefined;
    if (typeof name !== 'string') return [];
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    const message = `agents[${index}].name: “${name}” is the name of agents[${earlier}] already; each agent needs its own`;
    return earlier === undefined ? [] : [{ path: ['agents', index, 'name'], message }];
  });
}

function ownFallbacks(runtimes: Json | undefined): Finding[] {
  if (!isJsonObject(runtimes)) return [];
  return Object.entries(runtimes)
    .filter(([name, runtime]) => isJsonObject(runtime) && runtime['fallback'] === name)
    .map(([name]) => ({
      path: ['runtimes', name, 'fallback'],
      message: `runtimes.${name}.fallback: a runtime cannot stand in for itself; name another one or leave it out`,
    }));
}
