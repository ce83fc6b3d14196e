import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAst } from 'vitest/node';

const SOURCE = join(import.meta.dirname, '..', '..', 'src');
/** What makes prompts, briefs, criteria and feedback, what adds to them at the start of a turn, and what agents ask in a turn. */
const MAKERS = ['playbooks', 'rules', 'runtimes', 'cli/mcp'];
/** A text of more words is a sentence for someone, and sentences for agents are prompts. */
const MOST_WORDS = 12;

/** Modules whose longer texts are read by people, or say what is wrong with one answer, in the words of its problem. */
const OTHERS: readonly (readonly [modules: RegExp, why: string])[] = [
  [/^playbooks\/stages\/(?:check-.*|stage-schema|roles)\.ts$/, 'problems of a list, for who writes squad.yaml'],
  [/^playbooks\/session\/(?:check-.*|refusal|session-required|knowledge-files)\.ts$/, 'problems and files of a folder'],
  [/^playbooks\/coordinate\/(?:play-command|team-files)\.ts$/, 'for the person who plays the session'],
  [/^playbooks\/objective\/roles\.ts$/, 'for who writes squad.yaml'],
  [
    /^playbooks\/(?:stages\/plan-tasks|delivery\/plan-answer|coordinate\/answer|session\/answer)\.ts$/,
    'problems of an answer',
  ],
  [/^playbooks\/sprint\/(?:answers|backlog-writes|forms|review|todos|transition)\.ts$/, 'problems of an answer'],
  [/^playbooks\/registry\.ts$/, 'for who chooses a playbook'],
  [/^playbooks\/delivery\/index\.ts$/, 'why a run ends'],
  [/^playbooks\/(?:council\/texts|council\/minutes-texts|shared\/mail-texts)\.ts$/, 'in two languages, for people'],
  [/^playbooks\/(?:shared\/mail-assigned|stages\/advice)\.ts$/, 'why a message is refused'],
  [/^rules\/(?:catch-up|evidence-texts|feedback-texts)\.ts$/, 'problems of work or of a verdict'],
  [
    /^rules\/(?:moving\/decide-move|agent-request|baseline-checked|change-checks|conclude|intervention-checks|run-branch|silent-judges|staff)\.ts$/,
    'for the operator',
  ],
  [
    /^rules\/(?:forge\/(?:decide-follow|follow-texts|issue-posts)|sprint\/(?:decide-team|sprint-estimate)|people\/(?:forms|refusals|take-message))\.ts$/,
    'for the people of a team',
  ],
  [
    /^runtimes\/(?:antigravity\/command|claude\/index|codex\/(?:command|index)|in-process\/index|acp\/host\/session-setup)\.ts$/,
    'why a turn is refused or failed, for the operator',
  ],
  [
    /^runtimes\/shared\/(?:cli-program|network-failure|output-reader|session|skills|turn-verdict)\.ts$/,
    'why a turn is refused or failed, for the operator',
  ],
  [
    /^runtimes\/shared\/(?:hooks|limit-notice|outside-servers|seatbelt)\.ts$/,
    'programs of the shell and of sandboxes, and patterns',
  ],
  [/^cli\/mcp\/(?:other-actions|reading-tools)\.ts$/, 'what a tool does: it stands in the schema of the tool'],
  [/^cli\/mcp\/(?:main|server)\.ts$/, 'why a call, or the program, is refused'],
];

/** Texts in the code; those that say what a field of an answer means belong to its schema. */
function textsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value, quasis, callee } = node as Node;
  if (type === 'CallExpression' && callee?.property?.name === 'describe') return textsIn(callee);
  if (type === 'Literal' && typeof value === 'string') return [value];
  const own = type === 'TemplateLiteral' ? [(quasis ?? []).map((part) => part.value.raw).join(' X ')] : [];
  return [...own, ...Object.values(node).flatMap(textsIn)];
}

interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
  readonly callee?: { readonly property?: { readonly name?: string } };
}

const wordsIn = (text: string): number => (text.match(/[\p{L}\p{N}’'_-]+/gu) ?? []).length;

const modules = MAKERS.flatMap((room) =>
  readdirSync(join(SOURCE, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${room}/${name.replaceAll('\\', '/')}`),
);
const longIn = (name: string): string[] =>
  textsIn(parseAst(readFileSync(join(SOURCE, name), 'utf8'), { lang: 'ts' })).filter(
    (text) => wordsIn(text) > MOST_WORDS,
  );

it('sentences for agents are prompts in files of their own', () => {
  const long = modules
    .filter((name) => !OTHERS.some(([of]) => of.test(name)))
    .flatMap((name) => longIn(name).map((text) => `${name}: ${text}`));
  expect(long).toEqual([]);
});

it.each(OTHERS)('the exception %s is needed: %s', (of) => {
  expect(modules.some((name) => of.test(name) && longIn(name).length > 0)).toBe(true);
});
