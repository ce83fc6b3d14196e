import { z } from 'zod';

/** A folder as a sink of a run has left it when the run or its engine ended. `problem`: why it is not complete. */
export const folderWrittenSchema = z.strictObject({
  sink: z.string(),
  folder: z.string(),
  problem: z.string().nullable(),
});
export type FolderWritten = z.infer<typeof folderWrittenSchema>;

/** The sentence for a person about it. */
export function folderText({ folder, problem }: Omit<FolderWritten, 'sink'>, name: string): string {
  if (problem === null) return `the files in ${folder} are complete`;
  return `the files in ${folder} are not complete: ${problem}. ${writeAgainText(name)}`;
}

export function writeAgainText(name: string): string {
  return `\`${writeAgainCommand(name)}\` writes them again`;
}

export function writeAgainCommand(name: string): string {
  return `squad resume ${name}`;
}
