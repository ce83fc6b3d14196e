import { SquadError } from '../model/errors.ts';

export function nothingLeft(name: string): SquadError {
  return new SquadError({
    code: 'usage',
    message: `run ${name} is over: there is nothing to go on with`,
    next: `See \`squad report ${name}\`.`,
  });
}

export function branchTaken(name: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `there is a branch squad/${name} already`,
    next: `Give the run another name (\`--name\`), or delete the branch: \`git branch -D squad/${name}\`.`,
  });
}

/** Its record is gone, and somebody's work may still be in there. */
export function worktreesTaken(name: string, folder: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `there are worktrees of an older run ${name} in ${folder}, which is on record no more`,
    next: `Give the run another name (\`--name\`), or look at them and remove that folder.`,
  });
}

export function drivenHere(directory: string, runId: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${directory}: this process drives run ${runId} already`,
    next: 'Wait for its end.',
  });
}

export function unknownPlaybook(name: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `the playbook ${name} is not available in this version`,
    next: 'Resume the run with the version that started it, or start a new one with `squad run`.',
  });
}
