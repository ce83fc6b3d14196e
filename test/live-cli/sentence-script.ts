import { planned, reviewed, type Act, type Asked, type Gate, type ScriptedTurn } from './turn-scripts.ts';
import { finding } from '../support/findings.ts';

/** What models do with a sentence: one task at first, two after a change, and a question before anything is written. */

export const SENTENCE = 'write a program that greets people by name';
export const CHANGE = 'Also say in USAGE.md how to run it';
export const QUESTION = 'What should greet.sh say without a name?';
export const ANSWER = 'Hello, world.';

const GREET = 'echo "Hello, ${1:-world}."\n';
const USAGE = 'Run `sh greet.sh Ada`.\n';

const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });
const commit = (message: string): Act => shell(`git add -A && git commit -q -m "${message}"`);

function plan(tasks: readonly { id: string; title: string; file: string }[]): Act {
  return planned(
    tasks.length === 1 ? 'One small program.' : 'The program, and a page about it.',
    tasks.map(({ id, title, file }) => ({
      id,
      title,
      brief: `${title}, in ${file}.`,
      files: [file],
      acceptance: [`${file} is there`],
    })),
    { criteria: [{ text: 'It greets by name', command: "sh greet.sh Ada | grep 'Hello, Ada'" }] },
  );
}

const TASKS = [
  { id: 'greet', title: 'Write the program', file: 'greet.sh' },
  { id: 'usage', title: 'Say how to run it', file: 'USAGE.md' },
];

/** A reviewer sees the change with the command that it was given. */
const LOOK = ({ prompt }: Asked): Act =>
  shell(/The change is `([^`]+)`/.exec(prompt)?.[1] ?? 'echo no change was named');

function judge({ outputs }: Asked): Act {
  const approved = outputs.some((output) => /^\+(?:echo "Hello|Run `sh)/m.test(output));
  return reviewed(approved ? undefined : finding('the change cannot be seen', { criterion: 'C2' }));
}

/** `gate`: where each builder stands before it writes, so that there is time to watch it. */
export function turnsOf(gate: Pick<Gate, 'pass'>): readonly ScriptedTurn[] {
  const then = (act: Act) => async (): Promise<Act> => {
    await gate.pass();
    return act;
  };
  const question = { to: ['MAIN'], question: QUESTION, context: 'The sentence does not say it.' };
  return [
    { name: 'plan again', when: /asks for a change:\s+Also say in USAGE\.md/, acts: [plan(TASKS)] },
    { name: 'plan', when: /Split this objective/, acts: [shell('git ls-files'), plan(TASKS.slice(0, 1))] },
    ...TASKS.map(({ id }) => ({
      name: `review ${id}`,
      when: new RegExp(`# Review of task ${id}:`),
      acts: [LOOK, judge],
    })),
    {
      name: 'build answered',
      when: /Hello, world\./,
      acts: [
        then({ act: 'write', path: 'greet.sh', text: GREET }),
        commit('Greet by name'),
        say('greet.sh greets by name.'),
      ],
    },
    {
      name: 'ask',
      when: /# Task greet:/,
      acts: [
        { act: 'mail', tool: 'ask', arguments: { ...question, code_path: 'greet.sh' } },
        say('I wait for the answer.'),
      ],
    },
    {
      name: 'write usage',
      when: /# Task usage:/,
      acts: [
        then({ act: 'write', path: 'USAGE.md', text: USAGE }),
        commit('Say how to run it'),
        say('USAGE.md is written.'),
      ],
    },
  ];
}
