import { FAILING_SCENARIOS } from '../runtime-scenarios.ts';
import { insist, type RuntimeCase } from '../runtime-stage.ts';

/** Each way to fail has its type and ends within its bound; nothing of it is called done. */
export const FAILURE_CASES: readonly RuntimeCase[] = [
  ...FAILING_SCENARIOS.map(
    ([scenario, kind]): RuntimeCase => ({
      title: `${scenario} ends as ${kind}`,
      scenario,
      check: async (stage) => {
        const end = await stage.run(stage.request());
        insist(end.result.outcome !== 'completed', 'a failed turn was called done', end.result);
        insist(end.result.failure?.kind === kind, `the failure is not ${kind}`, end.result);
        insist(end.result.failure.message.length > 0, 'the failure says nothing', end.result);
        insist(!end.result.failure.mayHaveActed, 'nothing can have happened', end.result);
        insist(end.tookMs <= stage.failureBoundMs, `the failure took ${Math.round(end.tookMs)} ms`, end.result);
        if (scenario === 'usage-limit') {
          insist((end.result.failure.retryAt ?? 0) > Date.now(), 'the stated reset is lost', end.result);
        }
      },
    }),
  ),
  {
    title: 'a denied tool is listed, whatever the agent says afterwards',
    scenario: 'denied',
    check: async (stage) => {
      const end = await stage.run(stage.request({ access: { level: 'read-only' } }));
      const listed = end.result.denials.length > 0;
      const reported = end.events.some((event) => event.type === 'tool-ended' && (event.denied || !event.ok));
      insist(listed || reported, 'the denial is nowhere to be seen', { result: end.result, events: end.events });
    },
  },
];
