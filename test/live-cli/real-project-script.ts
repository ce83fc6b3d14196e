import { planned, reviewed, type Act, type Asked, type Gate, type ScriptedTurn } from './turn-scripts.ts';

/** What models do with a small shop in React: three components, each with a test that its builder runs. */

export const SENTENCE = 'show price, stock and delivery of an article';
export const SECOND_SENTENCE = 'show who sells an article';

const shell = (command: string): Act => ({ act: 'shell', command });
const write = (path: string, text: string): Act => ({ act: 'write', path, text });

export const COMPONENTS = ['Price', 'Stock', 'Delivery'] as const;
export const SELLER = 'Seller';

const component = (name: string): string => `export default function ${name}({ value }) {
  return (
    <p>
      {import.meta.env.VITE_TITLE}: {value}
    </p>
  );
}
`;
const test = (name: string): string => `import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import ${name} from './${name}.jsx';

test('shows what it is given', () => {
  expect(renderToString(<${name} value="7" />)).toBe('<p>Shop<!-- -->: <!-- -->7</p>');
});
`;

const plan = (names: readonly string[]): Act =>
  planned(
    'A component for each, with its test.',
    names.map((name) => ({
      id: name.toLowerCase(),
      title: `Write ${name}`,
      brief: `Write src/${name}.jsx and its test.`,
      files: [`src/${name}.jsx`, `src/${name}.test.jsx`],
      acceptance: [`src/${name}.test.jsx passes`],
    })),
    { criteria: names.map((name) => ({ text: `${name} is tested`, command: `npx vitest run src/${name}.test.jsx` })) },
  );

/** A builder goes by what its own run of the test said. */
const build = (name: string): ScriptedTurn => ({
  name: `build ${name}`,
  when: new RegExp(`# Task ${name.toLowerCase()}:`),
  acts: [
    write(`src/${name}.jsx`, component(name)),
    write(`src/${name}.test.jsx`, test(name)),
    shell(`npx vitest run --no-color src/${name}.test.jsx && git add -A && git commit -q -m "Show ${name}"`),
    ({ outputs }) => ({
      act: 'say',
      text: /1 passed/.test(outputs.at(-1) ?? '') ? `${name} is tested.` : `not tested: ${outputs.at(-1)}`,
    }),
  ],
});

const look = ({ prompt }: Asked): Act =>
  shell(/The change is `([^`]+)`/.exec(prompt)?.[1] ?? 'echo no change was named');
const judge = ({ outputs }: Asked): Act =>
  reviewed(outputs.some((output) => /^\+export default function/m.test(output)) ? undefined : 'nothing can be seen');

export function turnsOf(): readonly ScriptedTurn[] {
  const all = [...COMPONENTS, SELLER];
  return [
    {
      name: 'plan',
      when: /Split this objective/,
      acts: [shell('git ls-files'), ({ prompt }) => plan(prompt.includes(SECOND_SENTENCE) ? [SELLER] : COMPONENTS)],
    },
    ...all.map((name) => ({
      name: `review ${name}`,
      when: new RegExp(`# Review of task ${name.toLowerCase()}:`),
      acts: [look, judge],
    })),
    ...all.map(build),
  ];
}

/** The builder of the price waits for `gate` in its first turn; a person's word changes what it writes. Turns that were ended continue. */
export function steeredTurns(word: string, gate: Gate): readonly ScriptedTurn[] {
  const { acts } = build('Price');
  const euros = component('Price').replace('{value}', '{value} EUR');
  const inEuros = test('Price').replace('7</p>', '7<!-- --> EUR</p>');
  const steered: ScriptedTurn = {
    name: 'steered',
    when: new RegExp(`task price\\b[^]*${word}`, 'i'),
    acts: [write('src/Price.jsx', euros), write('src/Price.test.jsx', inEuros), ...acts.slice(2)],
  };
  const turns = turnsOf().map((turn): ScriptedTurn => {
    const [, name] = /^build (\w+)$/.exec(turn.name) ?? [];
    if (name === undefined) return turn;
    const waits = async (): Promise<Act> => gate.pass().then(() => shell('true'));
    return {
      ...turn,
      when: new RegExp(`task ${name}\\b`, 'i'),
      acts: name === 'Price' ? [waits, ...turn.acts] : turn.acts,
    };
  });
  const [plan = steered, ...others] = turns;
  const reviews = others.filter(({ name }) => name.startsWith('review'));
  return [plan, ...reviews, steered, ...others.filter((turn) => !reviews.includes(turn))];
}
