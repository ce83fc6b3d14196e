// Writes docs/runtimes.md from docs/runtimes.json, the results of the conformance suite and the probes: `npm run runtimes`.
// `npm run runtimes -- REPORT…` first takes the results in these reports of vitest into docs/runtimes.json (docs/testing.md).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { CONVERSATION_CASES } from '../src/testing/cases/conversation-cases.ts';
import { CASES } from '../src/testing/runtime-conformance.ts';

const PAGE = 'docs/runtimes.md';
export const RESULTS = 'docs/runtimes.json';

const probeSchema = z.object({ version: z.string().optional(), sandbox: z.string() });
const runtimeSchema = z.object({
  name: z.string(),
  probe: probeSchema.optional(),
  /** By the title of the case: `passed`, `failed`, or why it was skipped. */
  cases: z.record(z.string(), z.string()),
});
const resultsSchema = z.array(runtimeSchema);
type Results = z.infer<typeof resultsSchema>;

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({
          ancestorTitles: z.array(z.string()),
          title: z.string(),
          status: z.string(),
          meta: z.object({ probe: probeSchema.extend({ runtime: z.string() }).optional() }).optional(),
        }),
      ),
    }),
  ),
});

/** Who answers in the place of the model, or of the runtime itself. */
const BEHIND: Readonly<Record<string, string>> = { scripted: 'the player', antigravity: 'an emulator of `agy`' };

const HEAD = `# What each runtime can do

Made by \`npm run runtimes\` from the results of the public conformance suite (\`runtimeConformance\`), which each runtime has to pass.
The real programs ran on model servers on loopback, without a key: no vendor's own server is tested. Where a runtime cannot keep a
promise, the note says why. What skills, hooks and variables a runtime takes: [armory.md](armory.md). What confines it:
[sandbox.md](sandbox.md).`;

export function readResults(root: string): Results {
  return resultsSchema.parse(JSON.parse(readFileSync(join(root, RESULTS), 'utf8')));
}

/** The results, with what a report of vitest says in their place. */
function withReport(results: Results, report: unknown): Results {
  const found = new Map<string, Results[number]>();
  const of = (name: string): Results[number] => {
    const made = found.get(name) ?? { name, cases: {} };
    found.set(name, made);
    return made;
  };
  for (const { assertionResults } of reportSchema.parse(report).testResults) {
    for (const { ancestorTitles, title, status, meta } of assertionResults) {
      const [, name] = /^(.+) keeps the promises of AgentRuntime$/.exec(ancestorTitles[0] ?? '') ?? [];
      const [, skipped, reason] = /^(.*) \(skipped: (.*)\)$/.exec(title) ?? [];
      // Cases that a filter left out say nothing.
      const outcome = reason ?? (status === 'passed' || status === 'failed' ? status : undefined);
      const isCase = titles().includes(skipped ?? title);
      if (name !== undefined && isCase && outcome !== undefined) of(name).cases[skipped ?? title] = outcome;
      if (meta?.probe !== undefined) {
        const { runtime, ...probe } = meta.probe;
        of(runtime).probe = probe;
      }
    }
  }
  const known = results.map((old) => {
    const { cases, ...more } = found.get(old.name) ?? { cases: {} };
    return { ...old, ...more, cases: { ...old.cases, ...cases } };
  });
  const added = [...found.values()].filter(({ name }) => !results.some((old) => old.name === name));
  return [...known, ...added].filter(({ cases }) => Object.values(cases).includes('passed'));
}

/** Of every case, in the order of the suite. */
export function titles(): string[] {
  return [...CASES, ...CONVERSATION_CASES].map(({ title }) => title);
}

export function runtimesPage(results: Results): string {
  const notes: string[] = [];
  const noteFor = (text: string): string => {
    if (!notes.includes(text)) notes.push(text);
    return `no [${notes.indexOf(text) + 1}]`;
  };
  const cell = (outcome: string | undefined): string => {
    if (outcome === 'passed') return 'yes';
    if (outcome === undefined) return '';
    return outcome === 'failed' ? '**fails**' : noteFor(outcome);
  };
  const rows = [
    ['', ...results.map(({ name }) => name)],
    results.map(() => '---').concat('---'),
    ['version', ...results.map(({ probe }) => probe?.version ?? '')],
    ['ran as', ...results.map(({ name }) => BEHIND[name] ?? 'the real program')],
    ['`edit` is confined by', ...results.map(({ probe }) => confinement(probe?.sandbox))],
    ...titles().map((title) => [title, ...results.map(({ cases }) => cell(cases[title]))]),
  ];
  const table = rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
  const list = notes.map((note, index) => `${index + 1}. ${note}`).join('\n');
  return `${[HEAD, table, ...(notes.length === 0 ? [] : ['## Why not', list])].join('\n\n')}\n`;
}

function confinement(sandbox: string | undefined): string {
  return sandbox === 'os' ? 'an OS sandbox' : sandbox === 'rules' ? 'rules alone' : '';
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')) as unknown);
  const results = reports.reduce<Results>(withReport, readResults(root));
  writeFileSync(join(root, RESULTS), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(root, PAGE), runtimesPage(results));
}
