/** The command that tests start: built from the sources before they run (tools/suite/built-command.ts). */
export const COMMAND: string = new URL(
  '../../dist/suite/packages/cli/bin/sallyport.js',
  import.meta.url,
).pathname;
