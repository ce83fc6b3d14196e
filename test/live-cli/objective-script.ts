import { NOTES, PAGE } from './objective-app.ts';
import { reviewed, type Act, type Asked, type Gate, type ScriptedTurn } from './turn-scripts.ts';

/** What every turn of a run of `objective` does. Three stages reject once: a review of SPEC, one of a builder's task, POST_REVIEW. */

export const SPEC_FINDING = 'feature_spec.md says nothing of an empty note';
export const NOTES_FINDING = 'src/notes.mjs lists the oldest note first';
export const PAGE_FINDING = 'the guest reads a number instead of the reason';

const EMPTY_NOTE = 'An empty note is not kept, and the guest reads why.';

const write = (path: string, text: string): Act => ({ act: 'write', path, text });
const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const commit = (why: string): Act => shell(`git add -A && git commit -q -m "${why}"`);

/** The form that the prompt asks for: the engine's own words about the evidence. */
function writeDocument({ prompt }: Asked): Act {
  const [, path = 'no-document-was-asked-for.md', named = ''] =
    /^- (\S+) is a Markdown document [^“\n]*(.*)$/m.exec(prompt) ?? [];
  const headings = [...named.matchAll(/“([^”]+)”/g)].map(([, heading = '']) => heading);
  const sections = headings.map((heading) => `## ${heading.replace(/^#+ /, '')}\n\nWhat there is to say of it.\n`);
  const task = /# Task ([\w-]+):/.exec(prompt)?.[1];
  return write(path, [`# A guest book\n\nBy task ${task}.\n`, ...sections].join('\n'));
}

/** `last`: the answer of its turn. */
const document = (stage: string, last: Act = say('Written and committed.')): ScriptedTurn => ({
  name: stage,
  when: new RegExp(`(?:^|\\n)# Task ${stage}:`),
  acts: [writeDocument, commit(`Write the document of ${stage}`), last],
});

const SUMMARY: Act = {
  act: 'answer',
  value: { summary: 'A guest book was built.', tryIt: ['node check.mjs notes page'], left: [], followUps: [] },
};

const PLAN: Act = {
  act: 'answer',
  value: {
    tasks: [NOTES, PAGE].map(({ id, path }) => ({
      id,
      title: `Write ${path}`,
      brief: `Write ${path} as the specification says.`,
      needs: [],
      paths: [path],
      acceptance: [`\`node check.mjs ${id}\` exits with 0`],
    })),
  },
};

/** Stands with the other builder once its file is written and not committed. */
const build = (gate: Gate, { id, path, draft }: typeof NOTES): ScriptedTurn => ({
  name: `build ${id}`,
  when: new RegExp(`(?:^|\\n)# Task ${id}:`),
  acts: [
    write(path, draft),
    async () => {
      await gate.pass();
      return commit(`Add ${id}: the plan asks for it`);
    },
    say(`${path} is written.`),
  ],
});

const mend = (task: string, finding: string, acts: readonly Act[]): ScriptedTurn => ({
  name: `mend ${task}`,
  when: new RegExp(`Your work on task ${task} was rejected in review:[^]*${finding}`),
  acts: [...acts, commit(`Mend ${task}: found in review`), say('Mended.')],
});

/** A reviewer goes by what it sees of the change itself: with the command that it was given, in its own shell. */
const LOOK = ({ prompt }: Asked): Act =>
  shell(/The change is `([^`]+)`/.exec(prompt)?.[1] ?? 'echo no change was named');

function verdictOf(problem: string | undefined): Act {
  return reviewed(problem);
}

const review = (task: string, round: number, problem: (change: string, by: string) => string | undefined) => ({
  name: `review ${task} ${round}`,
  when: new RegExp(`(?:^|\\n)# Review of task ${task}: .* \\(round ${round}\\)`),
  acts: [
    LOOK,
    ({ outputs, agent }: Asked) => {
      const change = outputs.join('\n');
      return verdictOf(change.includes('+++ b/') ? problem(change, agent) : 'the change cannot be seen');
    },
  ],
});

/** Of the two who judge a specification, only the reviewer asks for more. */
const lacksEmptyNote = (change: string, by: string): string | undefined =>
  by === 'reviewer' && !change.includes(EMPTY_NOTE) ? SPEC_FINDING : undefined;

/** Judges the merged whole: the criterion without a command by the line that it sees. */
function judge({ prompt, outputs }: Asked): Act {
  const [, line = '0', told = ''] = /^(\d+):(.*told\.textContent.*)$/m.exec(outputs.join('\n')) ?? [];
  const approved = told.includes('an empty note is not kept');
  const criterion = /^\s*(C\d+): .*reads why it is not kept/m.exec(prompt)?.[1] ?? '';
  const at = { file: PAGE.path, line: Number(line) };
  const suggestion = 'Say that an empty note is not kept.';
  const value = {
    approved,
    summary: approved ? 'The objective is met.' : 'One criterion is not met.',
    findings: approved ? [] : [{ ...at, problem: PAGE_FINDING, suggestion }],
    criteria: [
      {
        criterion,
        met: approved,
        evidence: { ...at, quote: told },
        why: approved ? 'the page says why' : PAGE_FINDING,
      },
    ],
  };
  return { act: 'answer', value };
}

/** Both who judge see the whole; in the second pass the fix is in it. */
const postReview = (task: string): ScriptedTurn => ({
  name: task,
  when: new RegExp(`(?:^|\\n)# Task ${task}:`),
  acts: [shell(`grep -n told.textContent ${PAGE.path}`), judge],
});

/** `gate`: where both builders stand. */
export function objectiveTurns(gate: Gate): readonly ScriptedTurn[] {
  return [
    ...['setup', 'business-problem', 'spec', 'research', 'test-strategy', 'test', 'test-2'].map((stage) =>
      document(stage),
    ),
    { name: 'spec-writer', when: /(?:^|\n)# Task spec-writer:/, acts: [say('Nothing has to change.')] },
    { name: 'complete', when: /(?:^|\n)# Task complete:/, acts: [SUMMARY] },
    document('plan', PLAN),
    mend('spec', SPEC_FINDING, [shell(`echo '${EMPTY_NOTE}' >> "$(git ls-files 'docs/squad/*/feature_spec.md')"`)]),
    mend('notes', NOTES_FINDING, [write(NOTES.path, NOTES.right)]),
    build(gate, NOTES),
    build(gate, PAGE),
    {
      name: 'fix',
      when: new RegExp(`(?:^|\\n)# Task fix-1:[^]*${PAGE_FINDING}`),
      acts: [write(PAGE.path, PAGE.right), commit('Say why a note is not kept'), say('The page says why.')],
    },
    review('spec', 1, lacksEmptyNote),
    review('spec', 2, lacksEmptyNote),
    review('plan', 1, () => undefined),
    review('notes', 1, (change) => (change.includes('toReversed') ? undefined : NOTES_FINDING)),
    review('notes', 2, (change) => (change.includes('toReversed') ? undefined : NOTES_FINDING)),
    review('page', 1, () => undefined),
    review('fix-1', 1, () => undefined),
    ...['post-review', 'post-review-reviewer', 'post-review-2', 'post-review-reviewer-2'].map(postReview),
  ];
}

/** Every step of every turn: those of SPEC_REVIEW twice, because two judge. */
export const objectiveSteps = (turns: readonly ScriptedTurn[]): readonly string[] =>
  turns.flatMap(({ name, acts }) => {
    const steps = acts.map((_, step) => `${name} ${step}`);
    return name.startsWith('review spec') ? [...steps, ...steps] : steps;
  });
