import type { NewTask } from '../../../src/model/plan/task.ts';
import type { EvidenceFacts } from '../../../src/model/plan/evidence.ts';
import type { Used } from '../../../src/model/plan/work.ts';

export function newTask(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    title: id,
    role: 'builder',
    kind: 'work',
    needs: [],
    brief: { text: `Do ${id}.` },
    workspace: 'own',
    session: 'new',
    requires: [{ kind: 'diff' }],
    integrate: true,
    ...more,
  };
}

export const REVIEWED: Partial<NewTask> = {
  review: { by: ['reviewer'], quorum: 'all', rounds: 3, criteria: ['it works'] },
};

export const UNUSED: Used = { retries: 0, infrastructure: 0, transient: 0, repairs: 0, waits: 0, stalls: 0, asks: 0 };

export const FACTS: EvidenceFacts = {
  commit: 'c1',
  commits: 1,
  base: 'base',
  changedPaths: ['src/a.ts'],
  uncommitted: [],
  files: [],
  commands: [],
  pr: null,
};
