import { roundText, STAGE_SIGNS, type ShownStage } from '../../model/shown-stage.ts';
import { utcTime } from '../../text/time.ts';
import { ownWords, tableSection, words, type Section, type Text } from './document.ts';
import { duration } from './report-head.ts';

/** The stages in their order: state, rounds, who, since when and for how long. */
export function stagesSection(stages: readonly ShownStage[], now: number): Section | undefined {
  const rows = stages.map((stage, index): Text[] => [
    ownWords(`${index + 1}/${stages.length}`),
    stateOf(stage),
    nameOf(stage),
    ownWords(roundText(stage)),
    stage.by.join(', '),
    ownWords(stage.startedAt === undefined ? '' : utcTime(stage.startedAt)),
    ownWords(tookText(stage, now)),
  ]);
  return tableSection('Stages', ['#', 'state', 'stage', 'rounds', 'by', 'since', 'took'], rows);
}

/** With its title, unless that is only its id in other letters. */
function nameOf({ id, title }: ShownStage): Text {
  const letters = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
  return letters(id) === letters(title) ? id : words`${id}: ${title}`;
}

/** Empty: it is not known, or the stage waits to go on. */
function tookText({ state, startedAt, endedAt }: ShownStage, now: number): string {
  const end = endedAt ?? (state === 'live' ? now : undefined);
  return startedAt === undefined || end === undefined ? '' : duration(end - startedAt);
}

function stateOf({ state }: ShownStage): Text {
  return ownWords(`${STAGE_SIGNS[state]} ${state}`, state === 'done' ? 'good' : state === 'failed' ? 'bad' : undefined);
}
