import { SquadError } from '../model/errors.ts';

export function branchTaken(name: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `the branch squad/${name} already exists`,
    // `-d` and not `-D`: git refuses where that would lose work.
    next: `Give the run another name (\`--name\`). \`git log squad/${name}\` shows what the branch has; if your branch has it, \`git branch -d squad/${name}\` deletes it.`,
  });
}
