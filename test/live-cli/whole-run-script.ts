import { planned, reviewed, type Act, type Asked, type Gate, type ScriptedTurn } from './turn-scripts.ts';

/** What every turn of the run does: two pieces are built at the same time, and the first draft of `sum` is wrong. */

export const OBJECTIVE = `# Objective: Sums and products

## Goals

1. lib/sum.mjs exports sum(a, b)
2. lib/product.mjs exports product(a, b)

## Success Criteria

- [ ] Both are right (run: node check.mjs sum product)
`;

/** Checks the functions that it is told of, or those that are there. */
export const CHECK = `import { readdirSync } from 'node:fs';
const expected = { sum: 5, product: 6 };
const named = process.argv.slice(2);
const names = named.length > 0 ? named : readdirSync('lib').map((file) => file.replace('.mjs', ''));
for (const name of names) {
  const made = await import(new URL('lib/' + name + '.mjs', import.meta.url));
  if (made[name](2, 3) !== expected[name]) throw new Error(name + ' is wrong');
}
console.log('right: ' + names.join(', '));
`;

const WRONG_SUM = 'export const sum = (a, b) => a - b;\n';
export const RIGHT_SUM = 'export const sum = (a, b) => a + b;\n';
export const PRODUCT = 'export const product = (a, b) => a * b;\n';
export const FINDING = 'lib/sum.mjs:1 subtracts; it has to add';

const write = (path: string, text: string): Act => ({ act: 'write', path, text });
const shell = (command: string): Act => ({ act: 'shell', command });
const say = (text: string): Act => ({ act: 'say', text });

const PLAN = planned(
  'One module for each function.',
  ['sum', 'product'].map((name) => ({
    id: name,
    title: `Write ${name}`,
    brief: `Write lib/${name}.mjs, which exports the function ${name}.`,
    files: [`lib/${name}.mjs`],
    acceptance: [`\`node check.mjs ${name}\` exits with 0`],
  })),
);

/** A reviewer goes by what it sees of the change itself: with the command that it was given, in its own shell. */
const LOOK = ({ prompt }: Asked): Act =>
  shell(/The change is `([^`]+)`/.exec(prompt)?.[1] ?? 'echo no change was named');

function judge({ outputs }: Asked): Act {
  const diff = outputs.join('\n');
  const text = diff.includes('a - b;') && !diff.includes('a + b;') ? FINDING : 'the change cannot be seen';
  const approved = diff.includes('=> a + b;') || diff.includes('=> a * b;');
  return reviewed(approved ? undefined : text);
}

/** `gate`: where both builders stand once each has written its file and committed nothing yet. */
export function turnsOf(gate: Gate): readonly ScriptedTurn[] {
  const build = (name: string, text: string): ScriptedTurn => ({
    name: `build ${name}`,
    when: new RegExp(`# Task ${name}:`),
    acts: [
      write(`lib/${name}.mjs`, text),
      async () => {
        await gate.pass();
        return shell('git add -A');
      },
      shell(`git commit -m "Add ${name}: the objective asks for it"`),
      say(`${name} is written and committed.`),
    ],
  });
  const review = (name: string, round: number): ScriptedTurn => ({
    name: `review ${name} ${round}`,
    when: new RegExp(`# Review of task ${name}: .* \\(round ${round}\\)`),
    acts: [LOOK, judge],
  });
  return [
    { name: 'plan', when: /Split this objective/, acts: [PLAN] },
    {
      name: 'mend sum',
      when: /Your work on task sum was rejected in review:[^]*it has to add/,
      acts: [
        write('lib/sum.mjs', RIGHT_SUM),
        shell('node check.mjs sum && git commit -am "Add, not subtract: found in review"'),
        say('Mended.'),
      ],
    },
    ...[1, 2].flatMap((round) => ['sum', 'product'].map((name) => review(name, round))),
    build('sum', WRONG_SUM),
    build('product', PRODUCT),
  ];
}

/** Every step of every turn, each once. */
export const ALL_STEPS: readonly string[] = [
  'plan 0',
  ...['sum', 'product'].flatMap((name) => [0, 1, 2, 3].map((step) => `build ${name} ${step}`)),
  ...['review sum 1', 'review sum 2', 'review product 1'].flatMap((turn) => [`${turn} 0`, `${turn} 1`]),
  ...[0, 1, 2].map((step) => `mend sum ${step}`),
];
