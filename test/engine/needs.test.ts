import { expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { requireRegistered } from '../../src/engine/needs.ts';
import { testHost } from '../support/test-host.ts';
import { definition } from '../view/report/support.ts';

const { playbooks, runtimes } = compose(testHost('/nowhere', {}));

/** Its builder works with a runtime that is not here, the others with `others`. */
function nextOf(others: string): unknown {
  const run = definition();
  const agents = run.agents.map((agent) => ({ ...agent, runtime: agent.name === 'bob' ? 'mine' : others }));
  try {
    requireRegistered({ playbooks, runtimes }, { ...run, agents });
  } catch (error) {
    return (error as { next?: unknown }).next;
  }
  throw new Error('it is not refused');
}

it('names another runtime only where the run works with it', () => {
  expect(nextOf('codex')).toContain('`squad switch codex --agent bob`.');
  expect(nextOf('mine')).toContain('`squad switch RUNTIME --agent ada`; `squad doctor` says which are there.');
});
