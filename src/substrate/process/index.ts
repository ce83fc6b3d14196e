export { createSystemProcesses } from './system-processes.ts';
export { trimOutput } from './trim-output.ts';
