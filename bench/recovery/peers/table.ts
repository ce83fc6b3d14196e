import { cellOf } from './cell.ts';
import type { Observation } from './observe.ts';
import { SITUATIONS } from './situations.ts';
import type { Tool } from './tool.ts';

/** A column of the table; `why`: it could not be installed. */
export type Column =
  | { readonly tool: Pick<Tool, 'name' | 'version' | 'lacks'> }
  | { readonly name: string; readonly version: string; readonly why: string };

/** Markdown: a row for each situation that was tried. */
export function peersTable(columns: readonly Column[], observations: readonly (Observation | Broken)[]): string {
  const rows = SITUATIONS.filter(({ name }) => observations.some(({ situation }) => situation === name)).map(
    (situation) => [
      `\`${situation.name}\`: ${situation.what}`,
      ...columns.map((column) => {
        if ('why' in column) return `not installed: ${column.why}`;
        const found = observations.find((one) => one.tool === column.tool.name && one.situation === situation.name);
        if (found === undefined) return 'not tried';
        return 'error' in found
          ? `not observed: ${found.error}`
          : cellOf(found, situation, column.tool.lacks[situation.name]);
      }),
    ],
  );
  const head = ['what goes wrong', ...columns.map((column) => titleOf(column))];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The bench itself failed. */
export interface Broken {
  readonly tool: string;
  readonly situation: string;
  readonly error: string;
}

function titleOf(column: Column): string {
  const { name, version } = 'why' in column ? column : column.tool;
  return `${name} ${version}`;
}
