import { DIAMOND, fullAnswer, promptOf, type SessionAbout } from '../support/session-folder.ts';
import type { Act, Asked, Gate, ScriptedTurn } from './turn-scripts.ts';

/** What every turn of a session does: two tasks at the same time, and each worker answers by what it was given. */

export const LIVE_SESSION: SessionAbout = {
  ...DIAMOND,
  id: 'TC-a-greeting-2026-02-27',
  description: 'A greeting',
  extra: { mode: { of: 'somebody else' } },
};

export const FILES: Readonly<Record<string, string>> = {
  'IMPL-001': 'src/hello.mjs',
  'IMPL-002': 'src/bye.mjs',
  'IMPL-003': 'src/index.mjs',
  'DOC-001': 'docs/greeting.md',
};

const shell = (command: string): Act => ({ act: 'shell', command });

/** What a worker misses of what the tasks before it left, in its first prompt and in its folder. */
function missing(task: string, { prompt, outputs, agent }: Asked): string[] {
  const { role, needs = [] } = LIVE_SESSION.tasks.find(({ id }) => id === task) ?? { role: '' };
  const said = needs.flatMap((need) => {
    const { artifact, memory, learnings } = fullAnswer(need);
    return [artifact?.markdown.split('\n')[0] ?? '', ...memory.slice(0, 1).map(({ value }) => value), ...learnings];
  });
  const files = needs.flatMap((need) => FILES[need] ?? []);
  return [
    ...(agent === role ? [] : [`${task} was given to “${agent}”`]),
    ...said.filter((text) => !prompt.includes(text)),
    ...files.filter((file) => !outputs.join('\n').includes(file)),
  ];
}

/** Looks at what is there, writes its file if it is to write one, and answers in the form. */
function turn(task: string, gate: Gate, missed: string[]): ScriptedTurn {
  const file = FILES[task];
  const isBeside = task === 'IMPL-001' || task === 'DOC-001';
  const commit = shell(`git add -A && git commit -q -m "Add ${file}: ${task} asks for it"`);
  const writes: ScriptedTurn['acts'] =
    file === undefined
      ? []
      : [
          { act: 'write', path: file, text: `by ${task}\n` },
          async () => {
            if (isBeside) await gate.pass();
            return commit;
          },
        ];
  return {
    name: task,
    when: new RegExp(`(?:^|\\n)${promptOf(task)}: `),
    acts: [
      shell('git ls-files'),
      ...writes,
      (asked) => {
        missed.push(...missing(task, asked));
        return { act: 'answer', value: { ...fullAnswer(task) } };
      },
    ],
  };
}

/** `gate`: where the first of the inner loop and the writer stand at the same time. `missed`: what workers were not given. */
export function sessionTurns(gate: Gate, missed: string[]): readonly ScriptedTurn[] {
  return LIVE_SESSION.tasks.map(({ id }) => turn(id, gate, missed));
}
