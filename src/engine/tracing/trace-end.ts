import type { TracingEnd } from '../../model/tracing.ts';
import { defined } from '../../text/defined.ts';
import { uuidOf } from './langsmith.ts';
import { linkOf } from './link.ts';
import { scoresOf, sendScores } from './scores.ts';
import type { TraceTarget } from './target.ts';
import type { ClosedTracer } from './tracer.ts';

/** Sends the scores of a run that has ended, and asks where its newest trace can be seen. `sent` comes meanwhile. */
export async function endTraces(target: TraceTarget, { root, view, sent, late }: ClosedTracer): Promise<TracingEnd> {
  if (root === undefined || target.to !== 'langsmith') {
    return { ...defined({ ...(await sent) }), scored: 0, ...defined({ trace: root }) };
  }
  const scores = view === undefined ? [] : scoresOf(view);
  const [counts, unscored, link] = await Promise.all([
    sent,
    sendScores(target, { id: root }, scores, late),
    linkOf(target, root, late),
  ]);
  const isSeen = counts.sent > 0;
  return {
    ...defined({ ...counts }),
    ...{ scored: unscored === undefined ? scores.length : 0, trace: uuidOf(root) },
    ...defined({ unscored, link: isSeen ? link : undefined }),
  };
}
