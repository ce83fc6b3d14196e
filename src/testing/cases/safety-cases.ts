import { insist, type RuntimeCase } from '../runtime-stage.ts';
import { completed } from './work-cases.ts';

/** Bars S7 and S8: what the host knows and what the repository plants stay outside. */
export const SAFETY_CASES: readonly RuntimeCase[] = [
  {
    title: 'no variable of the host reaches the agent unless it is on the list',
    scenario: 'environment',
    check: async (stage) => {
      const end = await stage.run(stage.request());
      completed(end);
      const outputs = end.events.filter((event) => event.type === 'tool-ended').map((event) => event.output ?? '');
      insist(outputs.join('\n').includes('PATH='), 'the agent did not print its environment', end.events);
      insist(stage.bench.canaries.length > 0, 'the harness planted no canary');
      insist(!JSON.stringify(end.events).includes('canary'), 'a variable of the host reached the agent', outputs);
      insist(!stage.bench.received().includes('canary'), 'a variable of the host reached the model');
    },
  },
  {
    title: 'configuration planted in the repository runs nothing, its AGENTS.md is data',
    scenario: 'hermetic',
    check: async (stage) => {
      const end = await stage.run(stage.request());
      completed(end);
      const ran = await stage.bench.planted();
      insist(ran.length === 0, 'planted configuration was executed', ran);
      insist(stage.bench.received().includes('squad-conformance-house-rule'), 'AGENTS.md did not reach the agent');
    },
  },
];
