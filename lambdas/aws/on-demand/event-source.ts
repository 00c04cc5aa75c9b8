import { LambdaClient } from '@aws-sdk/client-lambda';
import { clientConfig } from '../clients.ts';
import { createEventSourceControl } from '../event-source.ts';

const client = new LambdaClient(clientConfig());

export const eventSourceControl = (uuid: string) => createEventSourceControl(client, uuid);
