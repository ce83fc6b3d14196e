import type { BaselineCommand, BaselineFacts } from '../model/plan/baseline.ts';
import { ENGINE_OPTIONS, SETUP_QUESTION, setupQuestion } from './agent-request.ts';
import { baselineCause, baselineQuestion, decideHold, isBeyondWork, newBaseline } from './baseline.ts';
import { answerQuestion, askQuestion, type Draft } from './board.ts';
import { finishFailed } from './finish.ts';
import { plainLine } from '../text/plain-text.ts';

const KEEP = 'keep it';
const WITHOUT = 'go on without it';
const [TRY_AGAIN, GIVE_UP] = ENGINE_OPTIONS;

/** Applies the check of the base commit. A command that cannot run there is a question, which holds the run until its answer. */
export function baselineChecked(draft: Draft, facts: BaselineFacts): void {
  if (draft.baseline.at !== 'due' || draft.finished !== null) return;
  draft.baseline = { ...draft.baseline, at: 'known', facts };
  const hold = decideHold(facts, draft.facts);
  if (hold === undefined) return;
  const cause = baselineCause(hold, facts.commit);
  if (hold.purpose === 'setup') {
    // A task whose folder could not be set up may have asked already.
    const asked = draft.questions.get(SETUP_QUESTION);
    draft.baseline = { ...draft.baseline, question: SETUP_QUESTION };
    if (asked !== undefined && asked.answer === null) return;
    const text = setupQuestion(hold.output);
    askQuestion(draft, { id: SETUP_QUESTION, text, options: [...ENGINE_OPTIONS], blocks: [], by: 'engine' });
    return;
  }
  const question = `engine/baseline/${draft.seq}`;
  const without =
    hold.purpose === 'criterion' ? `${WITHOUT}” leaves its criterion unchecked` : `${WITHOUT}” never runs it`;
  const ways = `“${KEEP}” if the run is to make it pass; “${without}; “${TRY_AGAIN}” runs it once more`;
  const text = `${cause}. ${correctionOf(hold, draft.facts)}${ways}.`;
  const options = [TRY_AGAIN, KEEP, WITHOUT, GIVE_UP];
  askQuestion(draft, { id: question, text, options, blocks: 'run', by: 'engine' });
  draft.baseline = { ...draft.baseline, question };
}

function correctionOf({ purpose }: BaselineCommand, { doubtful }: Draft['facts']): string {
  const file = purpose === 'criterion' ? doubtful?.file : 'squad.yaml';
  return file === undefined
    ? 'Install it, or answer: '
    : `Correct it in ${plainLine(file, 200)} and run \`squad resume --reload\`, or answer: `;
}

/** Applies the answer to the question above. */
export function answerBaseline(draft: Draft, answer: string, by: string): void {
  const { baseline, facts: run } = draft;
  const { facts } = baseline;
  const hold = facts === null ? undefined : decideHold(facts, run);
  draft.baseline = { ...baseline, question: null };
  if (facts === null || hold === undefined) return;
  if (answer === GIVE_UP) return finishFailed(draft, `${baselineCause(hold, facts.commit)}; ${by} gave up on it`);
  if (hold.purpose === 'setup' || answer === TRY_AGAIN) return again(draft);
  if (answer !== WITHOUT) return;
  const isHeld = (one: BaselineCommand): boolean =>
    !one.passed && (isBeyondWork(one) || (run.baseline === 'green' && one.purpose !== 'criterion'));
  const held = facts.commands.filter(isHeld);
  const commands = held.map((one) => one.run);
  draft.baseline = { ...draft.baseline, without: { by, commands } };
}

/** The settings were read again: what ran on the base may be other commands now. */
export function checkBaselineAgain(draft: Draft): void {
  const asked = baselineQuestion(draft);
  if (asked !== undefined) answerQuestion(draft, asked, 'withdrawn');
  again(draft);
}

function again(draft: Draft): void {
  const { tries } = draft.baseline;
  draft.baseline = { ...newBaseline(draft.facts), tries: tries + 1 };
}
