import type { RunEvent } from '../../../src/model/run-event.ts';
import type { BoardView } from '../../../src/cli/board/view.ts';
import { recordedRun, viewAfter } from './recorded-run.ts';

type Changed = Extract<RunEvent, { type: 'stage-changed' }>;

/** What ends the moment: the document is written, the first builder is done, and one of two judges has judged again. */
const ENDS: Readonly<Record<3 | 9 | 12, (event: Changed, before: Changed | undefined) => boolean>> = {
  3: ({ place, stage }) => place === 3 && stage.state === 'done',
  9: ({ place, stage }, before) => place === 9 && stage.by.length < 2 && before?.stage.by.length === 2,
  12: ({ place, stage }, before) => place === 12 && stage.by.length < 2 && isSecond(before),
};

function isSecond(before: Changed | undefined): boolean {
  return before?.stage.round?.taken === 2 && before.stage.by.length === 2;
}

/** A recorded objective in one of its thirteen stages, with a document rejected once and a fix after the last review. */
export function stagedRun(place: 3 | 9 | 12): RunEvent[] {
  const events = recordedRun('sign-in-staged');
  let before: Changed | undefined;
  const end = events.findIndex((event) => {
    if (event.type !== 'stage-changed' || event.place !== place) return false;
    const isEnd = ENDS[place](event, before);
    before = event;
    return isEnd;
  });
  const last = events.slice(0, end).findLastIndex(({ type }) => type === 'tool-started');
  return events.slice(0, last + 1);
}

/** What a person sees of it twenty seconds later, with the keys of `squad run`. */
export function stagedView(events: readonly RunEvent[]): BoardView {
  return {
    ...viewAfter(events, 20_000),
    keys: [
      { key: 'm', does: 'note' },
      { key: 'tab', does: 'transcripts' },
      { key: 'p', does: 'pause' },
      { key: 'd', does: 'drain' },
      { key: 'q', does: 'leave' },
      { key: 'Ctrl-C', does: 'stop, state saved' },
    ],
  };
}
