// npm run bench:recovery [-- --peers --only SITUATION]: squad beside other tools, each in the same situations with the same fake agent.
import { install, PEERS } from './install.ts';
import { observe, type Observation } from './observe.ts';
import { ralphy } from './ralphy.ts';
import { SITUATIONS } from './situations.ts';
import { squad } from './squad.ts';
import { peersTable, type Broken, type Column } from './table.ts';
import { takt } from './takt.ts';
import type { Tool } from './tool.ts';

export const SITUATION_NAMES: readonly string[] = SITUATIONS.map(({ name }) => name);

export interface PeersReport {
  readonly at: string;
  readonly tools: readonly { readonly name: string; readonly version: string; readonly why?: string }[];
  readonly observations: readonly (Observation | Broken)[];
}

export async function measurePeers(only: string | undefined): Promise<{ report: PeersReport; table: string }> {
  const columns: readonly (Column & { readonly tool?: Tool })[] = [
    { tool: squad() },
    columnOf('takt', 'TAKT', takt),
    columnOf('ralphy-cli', 'ralphy', ralphy),
  ];
  const tools = columns.flatMap(({ tool }) => tool ?? []);
  const observations: (Observation | Broken)[] = [];
  for (const situation of SITUATIONS.filter(({ name }) => only === undefined || name === only)) {
    const tryOne = async (tool: Tool): Promise<void> => {
      const found = await observe(tool, situation).catch(
        (error: unknown): Broken => ({
          ...{ tool: tool.name, situation: situation.name },
          error: error instanceof Error ? error.message : String(error),
        }),
      );
      console.log(`${situation.name} ${tool.name}: ${'error' in found ? found.error : `exit ${found.first.exit}`}`);
      observations.push(found);
    };
    // It is all waiting.
    if (situation.name === 'silent-server') await Promise.all(tools.map(tryOne));
    else for (const tool of tools) await tryOne(tool);
  }
  const report: PeersReport = {
    at: new Date().toISOString(),
    tools: columns.map((column) =>
      'why' in column
        ? { name: column.name, version: column.version, why: column.why }
        : { name: column.tool.name, version: column.tool.version },
    ),
    observations: observations.map(withoutOutput),
  };
  return { report, table: peersTable(columns, observations) };
}

function columnOf(
  name: keyof typeof PEERS,
  title: string,
  toolOf: (version: string, folder: string) => Tool,
): Column & { readonly tool?: Tool } {
  const version = PEERS[name];
  const installed = install(name);
  return 'why' in installed
    ? { name: title, version, why: installed.why }
    : { tool: toolOf(version, installed.folder) };
}

/** Output names folders of this machine. */
function withoutOutput(observation: Observation | Broken): Observation | Broken {
  return JSON.parse(
    JSON.stringify(observation, (key, value: unknown) => (key === 'tail' ? undefined : value)),
  ) as Observation;
}
