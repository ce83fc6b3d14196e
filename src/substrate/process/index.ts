export { createSystemProcesses } from './system-processes.ts';
