import { roundText, STAGE_SIGNS, type ShownStage } from '../model/shown-stage.ts';
import type { RunReading } from '../read-model/read-run.ts';
import { utcTime } from '../text/time.ts';
import { ownWords, tableSection, type Section, type Text } from './document.ts';
import { duration } from './report-head.ts';

/** The stages in their order: state, rounds, who, since when and for how long. */
export function stagesSection({ stages }: RunReading, now: number): Section | undefined {
  const rows = stages.map((stage, index): Text[] => [
    ownWords(`${index + 1}/${stages.length}`),
    stage.id,
    stage.title,
    stateOf(stage),
    ownWords(roundText(stage)),
    stage.by.join(', '),
    ownWords(stage.startedAt === undefined ? '' : utcTime(stage.startedAt)),
    ownWords(stage.startedAt === undefined ? '' : duration((stage.endedAt ?? now) - stage.startedAt)),
  ]);
  return tableSection('Stages', ['#', 'stage', 'what', 'state', 'rounds', 'by', 'since', 'took'], rows);
}

function stateOf({ state }: ShownStage): Text {
  return ownWords(`${STAGE_SIGNS[state]} ${state}`, state === 'done' ? 'good' : state === 'failed' ? 'bad' : undefined);
}
