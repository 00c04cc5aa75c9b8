import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../helpers/folders.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const folders: string[] = [];
afterAll(() => folders.forEach(removeFolder));

interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

/** Runs the app as `cdk synth -c …` does, without bundling. */
function synth(context: Readonly<Record<string, string>>) {
  const outdir = mkdtempSync(join(tmpdir(), 'stepwell-app-'));
  folders.push(outdir);
  const run = spawnSync(process.execPath, ['bin/app.ts'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': [] }),
    },
  });
  const template = (stack: string): { readonly Resources: Readonly<Record<string, Resource>> } =>
    JSON.parse(readFileSync(join(outdir, `${stack}.template.json`), 'utf8'));
  return {
    ...run,
    stack: (name: string) => JSON.parse(readFileSync(join(outdir, 'manifest.json'), 'utf8')).artifacts[name],
    resources: (stack: string, type: string) =>
      Object.values(template(stack).Resources).filter(({ Type }) => Type === type),
  };
}

describe('the app', () => {
  it('publishes no events without a bus', () => {
    const { status, stderr, resources, stack } = synth({});
    expect(status, stderr).toBe(0);
    expect(resources('Stepwell', 'AWS::Pipes::Pipe')).toEqual([]);
    expect(stack('Stepwell').properties.terminationProtection).toBe(true);
  });

  it.each(['default', 'cases'])('publishes events to the bus %s', (eventBus) => {
    const { status, stderr, resources } = synth({ eventBus });
    expect(status, stderr).toBe(0);
    const [pipe, ...others] = resources('Stepwell', 'AWS::Pipes::Pipe');
    expect(others).toEqual([]);
    expect(JSON.stringify(pipe?.Properties.Target)).toContain(`:event-bus/${eventBus}"`);
    const alarms = resources('Stepwell', 'AWS::CloudWatch::Alarm').map(({ Properties }) =>
      JSON.stringify(Properties.AlarmDescription),
    );
    expect(alarms.filter((text) => text.includes('events could not be published'))).toHaveLength(1);
  });

  it('takes name, worker, profile, endpoints and sender from the context', () => {
    const context = {
      stack: 'Cases',
      worker: 'cases',
      profile: 'development',
      eventBus: 'default',
      paymentsUrl: 'https://payments.test',
      noticesUrl: 'https://notices.test',
      emailIdentity: 'cases.test',
    };
    const { status, stderr, resources, stack } = synth(context);
    expect(status, stderr).toBe(0);
    expect(stack('Cases').properties.terminationProtection ?? false).toBe(false);
    const text = JSON.stringify(resources('Cases', 'AWS::Lambda::Function'));
    for (const value of ['https://payments.test', 'https://notices.test', '"WORKER_NAME":"cases"'])
      expect(text).toContain(value);
    expect(JSON.stringify(resources('Cases', 'AWS::IAM::Policy'))).toContain(':identity/cases.test');
    for (const type of ['AWS::SQS::Queue', 'AWS::DynamoDB::Table', 'AWS::S3::Bucket'])
      for (const { DeletionPolicy } of resources('Cases', type)) expect(DeletionPolicy).toBe('Delete');
  });

  it('refuses every value of the context that nothing can be made of, all at once', () => {
    const { status, stderr } = synth({
      stack: '1 bad',
      profile: 'staging',
      eventBus: 'arn:aws:events:eu-west-1:111122223333:event-bus/cases',
      paymentsUrl: '',
      noticesUrl: 'notices.example',
      emailIdentity: '',
    });
    expect(status).not.toBe(0);
    for (const fault of [
      'stack: must be a name of letters, digits and hyphens, is "1 bad"',
      'profile: must be production or development, is "staging"',
      'eventBus: must be the name of a bus, not its ARN, is "arn:aws:events:',
      'paymentsUrl: must be an http or https address, is ""',
      'noticesUrl: must be an http or https address, is "notices.example"',
      'emailIdentity: must be a domain or an address, is ""',
    ]) {
      expect(stderr).toContain(`- ${fault}`);
    }
  });
});
