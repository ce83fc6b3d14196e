import type { BoundAgent } from '../../../src/model/run.ts';
import { BUILT_IN_RUNTIMES } from '../../../src/model/runtime-name.ts';
import type { Session } from '../../../src/playbooks/session/session.ts';
import { sessionFrom } from '../../playbooks/session/support.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import { listRoles } from './lists.ts';
import type { PlaybookName } from './weather.ts';

/** Who works in the world of this seed. */
export function teamOf(seed: number, playbook: PlaybookName): BoundAgent[] {
  switch (playbook) {
    case 'delivery': {
      const committer = draw(seed, 'committer') < 0.15;
      const builders = Array.from({ length: drawInt(1, 3, seed, 'builders') }, (_, index) =>
        agent(seed, `builder-${index + 1}`, 'builder', !committer),
      );
      return [
        ...builders,
        ...(draw(seed, 'planner') < 0.5 ? [agent(seed, 'planner', 'planner')] : []),
        ...(draw(seed, 'reviewer') < 0.75 ? [agent(seed, 'reviewer-1', 'reviewer')] : []),
        ...(draw(seed, 'reviewers') < 0.3 ? [agent(seed, 'reviewer-2', 'reviewer')] : []),
        ...(committer ? [agent(seed, 'committer', 'committer')] : []),
        ...(draw(seed, 'tester') < 0.25 ? [agent(seed, 'tester', 'tester')] : []),
      ];
    }
    case 'council':
      return [
        agent(seed, 'main', 'main'),
        ...['a', 'b', 'c'].slice(0, drawInt(1, 3, seed, 'members')).map((name) => agent(seed, name, 'member')),
      ];
    case 'objective':
      return [
        ...['pm', 'ba', 'builder', 'reviewer'].map((role) => agent(seed, role, role)),
        ...(draw(seed, 'two builders') < 0.5 ? [agent(seed, 'builder-2', 'builder')] : []),
      ];
    case 'stages':
      return listRoles(seed).map(({ role, commits }) => agent(seed, role, role, commits));
    case 'session':
      return drawnSession(seed).roles.map(({ slug }) => agent(seed, slug, slug));
  }
}

function agent(seed: number, name: string, role: string, commits = true): BoundAgent {
  const runtime = drawOf(BUILT_IN_RUNTIMES, seed, 'runtime', name);
  return {
    name,
    role,
    runtime,
    access: { level: 'edit' },
    instructions: `You are ${name}.`,
    account: runtime,
    ...(commits ? {} : { commits: false }),
  };
}

/** A session of a few tasks: who reads, who writes code, who writes about it, and who does what no one knows. */
export function drawnSession(seed: number): Session {
  const ids = ['SPEC-1', 'IMPL-1', 'IMPL-2', 'DOC-1', 'OTHER-1', 'CHECK-1'];
  const tasks = ids.slice(0, drawInt(2, ids.length, seed, 'session tasks')).map((id, index) => ({
    id,
    role: ROLE_OF[id.split('-')[0] ?? ''] ?? 'reader',
    needs: ids.slice(0, index).filter((other) => draw(seed, 'session needs', id, other) < 0.4),
  }));
  return sessionFrom({
    roles: [
      { name: 'reader', responsibility: 'read-only' },
      { name: 'coder', responsibility: 'code-gen', inner_loop: draw(seed, 'inner loop') < 0.5 },
      { name: 'scribe', responsibility: 'code-gen (docs)' },
      { name: 'other' },
    ],
    tasks,
  });
}

const ROLE_OF: Readonly<Record<string, string>> = {
  SPEC: 'reader',
  IMPL: 'coder',
  DOC: 'scribe',
  OTHER: 'other',
  CHECK: 'reader',
};
