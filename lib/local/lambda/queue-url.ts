/** SQS clients go to the host in the queue's URL: it must be the endpoint they are meant to talk to. */
export function queueUrl(endpoint: string, queueArn: string): string {
  const [account, name] = queueArn.split(':').slice(4);
  return `${endpoint}/${account}/${name}`;
}
