// One cell of the table: what was observed, in words that follow from the facts alone.
import type { Facts } from './facts.ts';
import type { Observation } from './observe.ts';
import type { Situation } from './situations.ts';
import { PIECES } from './tool.ts';

type Step = Facts & { readonly words: string };

export function cellOf(observation: Observation, situation: Situation, lacks: string | undefined): string {
  const { first, after, delivered, mended } = observation;
  const steps = [after, delivered, mended].filter((step) => step !== undefined);
  const said = [
    firstOf(first, situation),
    ...steps.map((step, index) => stepOf(step, [first, ...steps][index] ?? first)),
  ];
  return `${lacks === undefined ? '' : `${lacks}; `}${said.join('. Then ')}.`;
}

function firstOf(facts: Facts, { name }: Situation): string {
  const end =
    name === 'kill-in-merge' && facts.exit === null
      ? 'killed'
      : facts.exit === null
        ? `still running after ${Math.round(facts.seconds)} s`
        : `exit ${facts.exit} after ${Math.round(facts.seconds)} s`;
  const { begun, refused, judges, reviews, twice } = facts.turns;
  const details = [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(judges > 0 ? [`${judges} to judge answers`] : []),
    ...(name === 'never-agrees' && reviews > 0 ? [`${reviews} reviews`] : []),
    ...(twice > 0 && name !== 'never-agrees' ? [`${twice} again`] : []),
    ...(name === 'cost-cap' ? [`${facts.turns.usd.toFixed(2)} USD`] : []),
  ];
  const turns = `${begun} ${begun === 1 ? 'turn' : 'turns'}${details.length === 0 ? '' : ` (${details.join(', ')})`}`;
  return `${end}${claimOf(facts)}, ${facts.pieces.there} of ${PIECES.length} pieces done, ${turns}${leftOf(facts)}`;
}

function stepOf(step: Step, before: Facts): string {
  const begun = step.turns.begun - before.turns.begun;
  const twice = step.turns.twice - before.turns.twice;
  const turns =
    begun === 0
      ? ''
      : `, ${begun} more ${begun === 1 ? 'turn' : 'turns'}${twice > 0 ? `, ${twice} of them paid again` : ''}`;
  const end = step.exit === null ? 'still running' : `exit ${step.exit}`;
  const onMain = step.words.startsWith('its ') || step.words.startsWith('`git');
  const pieces = onMain
    ? `${step.pieces.onMain} of ${PIECES.length} on the person’s branch`
    : `${step.pieces.there} of ${PIECES.length} pieces done`;
  const claim = isFalse(step) && !isFalse(before) ? claimOf(step) : '';
  return `${step.words}: ${end}${claim}, ${pieces}${turns}${leftOf(step)}`;
}

/** It says that all is done, and it is not. */
export function isFalse({ claim, pieces }: Pick<Facts, 'claim' | 'pieces'>): boolean {
  return claim.done && pieces.there < PIECES.length;
}

function claimOf(facts: Facts): string {
  const words = plain(facts.claim.words);
  if (words === '') return '';
  return `, says “${words}”${isFalse(facts) ? ', which is **not true**' : ''}`;
}

function leftOf({ left }: Facts): string {
  return left === 0 ? '' : `, ${left} ${left === 1 ? 'process' : 'processes'} left alive`;
}

const MOST = 110;

/** Without what a table or a reader cannot take. */
function plain(words: string): string {
  // oxlint-disable-next-line no-control-regex
  const text = words
    .replaceAll(/\u001b\[[\d;]*m/g, '')
    .replaceAll(/[|\n]/g, ' ')
    .replaceAll(/\/\S*squad-peers-\S+/g, '…')
    .trim();
  return text.length > MOST ? `${text.slice(0, MOST).trimEnd()}…` : text;
}
