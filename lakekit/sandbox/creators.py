"""How each type of resource is created: its properties in a template, as calls of its service."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Properties = dict[str, Any]
Client = Callable[[str], Any]


@dataclass(frozen=True)
class Created:
    """A resource: what `Ref` gives, what `Fn::GetAtt` gives, and what it was made from."""

    ref: str
    attributes: dict[str, str] = field(default_factory=dict)
    properties: Properties = field(default_factory=dict)


# What is not built, with the attributes that others ask for. Moto has no metrics that an alarm
# could watch; policies that require TLS do not apply on this machine, and nothing goes through a
# network. Its executions are of the newest definition, as ours. Nothing here costs anything, so
# that no budget is needed, and nobody deploys to it. Who reads the tables on this machine may
# read its disk, and nobody but its user does.
NOT_BUILT: dict[str, tuple[str, ...]] = {
    "AWS::Budgets::Budget": (),
    "AWS::CDK::Metadata": (),
    "AWS::CE::AnomalyMonitor": ("MonitorArn",),
    "AWS::CE::AnomalySubscription": (),
    "AWS::CloudTrail::Trail": (),
    "AWS::CloudWatch::Alarm": (),
    "AWS::Config::ConfigRule": (),
    "AWS::Config::ConfigurationRecorder": (),
    "AWS::Config::DeliveryChannel": (),
    "AWS::DataBrew::Dataset": (),
    "AWS::DataBrew::Project": (),
    "AWS::DataBrew::Recipe": (),
    "AWS::EC2::EIP": ("AllocationId",),
    "AWS::EC2::FlowLog": (),
    "AWS::EC2::InternetGateway": (),
    "AWS::EC2::NatGateway": (),
    "AWS::EC2::NetworkAcl": (),
    "AWS::EC2::NetworkAclEntry": (),
    "AWS::EC2::Route": (),
    "AWS::EC2::RouteTable": (),
    "AWS::EC2::SecurityGroup": ("GroupId",),
    "AWS::EC2::SecurityGroupEgress": (),
    "AWS::EC2::SecurityGroupIngress": (),
    "AWS::EC2::Subnet": (),
    "AWS::EC2::SubnetNetworkAclAssociation": (),
    "AWS::EC2::SubnetRouteTableAssociation": (),
    "AWS::EC2::VPC": (),
    "AWS::EC2::VPCEndpoint": (),
    "AWS::EC2::VPCGatewayAttachment": (),
    "AWS::Glue::Connection": (),
    "AWS::IAM::OIDCProvider": ("Arn",),
    "AWS::Kinesis::Stream": ("Arn",),
    "AWS::KinesisFirehose::DeliveryStream": (),
    "AWS::Lambda::Permission": (),
    "AWS::Logs::LogStream": (),
    "AWS::S3::BucketPolicy": (),
    "AWS::SNS::TopicPolicy": (),
    "AWS::SQS::QueuePolicy": (),
    "AWS::StepFunctions::StateMachineVersion": (),
}


class WrongPropertyError(Exception):
    """A property does not fit together with the others."""


def _bucket(client: Client, fallback: str, p: Properties) -> Created:
    s3, name = client("s3"), p.get("BucketName", fallback.lower())
    s3.create_bucket(
        Bucket=name, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name}
    )
    if p.get("VersioningConfiguration"):
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=p["VersioningConfiguration"])
    notification = p.get("NotificationConfiguration", {})
    if notification.get("EventBridgeConfiguration", {}).get("EventBridgeEnabled"):
        s3.put_bucket_notification_configuration(
            Bucket=name, NotificationConfiguration={"EventBridgeConfiguration": {}}
        )
    if rules := p.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration"):
        wanted = [
            {"ApplyServerSideEncryptionByDefault": rule["ServerSideEncryptionByDefault"]}
            for rule in rules
        ]
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": wanted})
    return Created(name, {"Arn": f"arn:aws:s3:::{name}"}, p)


def _key(client: Client, fallback: str, p: Properties) -> Created:
    found = client("kms").create_key(Policy=json.dumps(p["KeyPolicy"]))["KeyMetadata"]
    return Created(found["KeyId"], {"Arn": found["Arn"], "KeyId": found["KeyId"]}, p)


def _alias(client: Client, fallback: str, p: Properties) -> Created:
    client("kms").create_alias(AliasName=p["AliasName"], TargetKeyId=p["TargetKeyId"])
    return Created(p["AliasName"], {}, p)


def _database(client: Client, fallback: str, p: Properties) -> Created:
    client("glue").create_database(DatabaseInput=p["DatabaseInput"])
    return Created(p["DatabaseInput"]["Name"], {}, p)


def _role(client: Client, fallback: str, p: Properties) -> Created:
    role = client("iam").create_role(
        RoleName=p.get("RoleName", fallback),
        AssumeRolePolicyDocument=json.dumps(p["AssumeRolePolicyDocument"]),
    )["Role"]
    return Created(role["RoleName"], {"Arn": role["Arn"], "RoleId": role["RoleId"]}, p)


def _policy(client: Client, fallback: str, p: Properties) -> Created:
    # Moto keeps none: the gate reads them.
    return Created(fallback, {}, p)


def _log_group(client: Client, fallback: str, p: Properties) -> Created:
    name, logs = p.get("LogGroupName", fallback), client("logs")
    logs.create_log_group(logGroupName=name)
    arn = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"][0]["arn"]
    return Created(name, {"Arn": arn}, p)


def _function(client: Client, fallback: str, p: Properties) -> Created:
    # Lambda requires code; the sandbox runs the project's own.
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    known = ("Description", "Environment", "Handler", "MemorySize", "Role", "Runtime", "Timeout")
    made = client("lambda").create_function(
        FunctionName=p.get("FunctionName", fallback),
        Code={"ZipFile": empty.getvalue()},
        **{key: p[key] for key in known if key in p},
    )
    return Created(made["FunctionName"], {"Arn": made["FunctionArn"]}, p)


def _version(client: Client, fallback: str, p: Properties) -> Created:
    made = client("lambda").publish_version(FunctionName=p["FunctionName"])
    return Created(made["FunctionArn"], {"Version": made["Version"]}, p)


def _mapping(client: Client, fallback: str, p: Properties) -> Created:
    made = client("lambda").create_event_source_mapping(
        **{key: value for key, value in p.items() if key != "Tags"}
    )
    return Created(made["UUID"], {}, p)


def _job(client: Client, fallback: str, p: Properties) -> Created:
    name = client("glue").create_job(**{"Name": fallback, **p})["Name"]
    return Created(name, {}, p)


def _security(client: Client, fallback: str, p: Properties) -> Created:
    # The API has a list under a name in the singular.
    names = {"S3Encryptions": "S3Encryption"}
    settings = {names.get(key, key): v for key, v in p["EncryptionConfiguration"].items()}
    client("glue").create_security_configuration(Name=p["Name"], EncryptionConfiguration=settings)
    return Created(p["Name"], {}, p)


def _workgroup(client: Client, fallback: str, p: Properties) -> Created:
    client("athena").create_work_group(
        Name=p["Name"], Configuration=p["WorkGroupConfiguration"], Description=p["Description"]
    )
    return Created(p["Name"], {}, p)


def _dashboard(client: Client, fallback: str, p: Properties) -> Created:
    client("cloudwatch").put_dashboard(
        DashboardName=p["DashboardName"], DashboardBody=p["DashboardBody"]
    )
    return Created(p["DashboardName"], {}, p)


def _topic(client: Client, fallback: str, p: Properties) -> Created:
    arn = client("sns").create_topic(Name=p.get("TopicName", fallback))["TopicArn"]
    return Created(arn, {"TopicArn": arn, "TopicName": arn.rpartition(":")[2]}, p)


def _subscription(client: Client, fallback: str, p: Properties) -> Created:
    arn = client("sns").subscribe(
        TopicArn=p["TopicArn"], Protocol=p["Protocol"], Endpoint=p["Endpoint"]
    )["SubscriptionArn"]
    return Created(arn, {}, p)


def _queue(client: Client, fallback: str, p: Properties) -> Created:
    sqs = client("sqs")
    known = ("MessageRetentionPeriod", "VisibilityTimeout", "DelaySeconds")
    attributes = {key: str(p[key]) for key in known if key in p}
    if "RedrivePolicy" in p:
        attributes["RedrivePolicy"] = json.dumps(p["RedrivePolicy"])
    url = sqs.create_queue(QueueName=p.get("QueueName", fallback), Attributes=attributes)[
        "QueueUrl"
    ]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = found["Attributes"]["QueueArn"]
    return Created(url, {"Arn": arn, "QueueName": arn.rpartition(":")[2]}, p)


def _rule(client: Client, fallback: str, p: Properties) -> Created:
    events, name = client("events"), p.get("Name", fallback)
    rule: dict[str, Any] = {"Name": name, "State": p.get("State", "ENABLED")}
    if "EventPattern" in p:
        rule["EventPattern"] = json.dumps(p["EventPattern"])
    if "ScheduleExpression" in p:
        rule["ScheduleExpression"] = p["ScheduleExpression"]
    arn = events.put_rule(**rule)["RuleArn"]
    if p.get("Targets"):
        events.put_targets(Rule=name, Targets=p["Targets"])
    return Created(name, {"Arn": arn}, p)


def _schedule_group(client: Client, fallback: str, p: Properties) -> Created:
    name = p.get("Name", fallback)
    arn = client("scheduler").create_schedule_group(Name=name)["ScheduleGroupArn"]
    return Created(name, {"Arn": arn}, p)


def _schedule(client: Client, fallback: str, p: Properties) -> Created:
    name = p.get("Name", fallback)
    arn = client("scheduler").create_schedule(**{**p, "Name": name})["ScheduleArn"]
    return Created(name, {"Arn": arn}, p)


def _lf_location(client: Client, fallback: str, p: Properties) -> Created:
    client("lakeformation").register_resource(ResourceArn=p["ResourceArn"], RoleArn=p["RoleArn"])
    return Created(p["ResourceArn"], {}, p)


def _lf_tag(client: Client, fallback: str, p: Properties) -> Created:
    client("lakeformation").create_lf_tag(TagKey=p["TagKey"], TagValues=p["TagValues"])
    return Created(p["TagKey"], {}, p)


def _lf_association(client: Client, fallback: str, p: Properties) -> Created:
    client("lakeformation").add_lf_tags_to_resource(Resource=p["Resource"], LFTags=p["LFTags"])
    return Created(fallback, {}, p)


def _lf_grant(client: Client, fallback: str, p: Properties) -> Created:
    # The name of the account's catalog, as the template has it.
    given = {("CatalogId" if key == "Catalog" else key): value for key, value in p.items()}
    client("lakeformation").grant_permissions(**given)
    return Created(fallback, {}, p)


def _state_machine(client: Client, fallback: str, p: Properties) -> Created:
    text, given = p["DefinitionString"], p.get("DefinitionSubstitutions", {})
    wanted = set(re.findall(r"\$\{(\w+)\}", text))
    if missing := wanted - set(given):
        raise WrongPropertyError(f"the definition's tokens {sorted(missing)} get no value")
    if unused := set(given) - wanted:
        raise WrongPropertyError(f"the definition has no tokens {sorted(unused)}")
    definition = re.sub(r"\$\{(\w+)\}", lambda match: str(given[match.group(1)]), text)
    arn = client("stepfunctions").create_state_machine(
        name=p.get("StateMachineName", fallback), definition=definition, roleArn=p["RoleArn"]
    )["stateMachineArn"]
    attributes = {"Arn": arn, "Name": arn.rpartition(":")[2], "StateMachineRevisionId": "1"}
    return Created(arn, attributes, p)


def _parameter(client: Client, fallback: str, p: Properties) -> Created:
    name = p.get("Name", fallback)
    client("ssm").put_parameter(Name=name, Value=p["Value"], Type=p["Type"])
    return Created(name, {"Type": p["Type"], "Value": p["Value"]}, p)


CREATORS: dict[str, Callable[[Client, str, Properties], Created]] = {
    "AWS::Athena::WorkGroup": _workgroup,
    "AWS::CloudWatch::Dashboard": _dashboard,
    "AWS::Events::Rule": _rule,
    "AWS::Glue::Database": _database,
    "AWS::Glue::Job": _job,
    "AWS::Glue::SecurityConfiguration": _security,
    "AWS::IAM::ManagedPolicy": _policy,
    "AWS::IAM::Policy": _policy,
    "AWS::IAM::Role": _role,
    "AWS::KMS::Alias": _alias,
    "AWS::KMS::Key": _key,
    "AWS::LakeFormation::PrincipalPermissions": _lf_grant,
    "AWS::LakeFormation::Resource": _lf_location,
    "AWS::LakeFormation::Tag": _lf_tag,
    "AWS::LakeFormation::TagAssociation": _lf_association,
    "AWS::Lambda::EventSourceMapping": _mapping,
    "AWS::Lambda::Function": _function,
    "AWS::Lambda::Version": _version,
    "AWS::Logs::LogGroup": _log_group,
    "AWS::S3::Bucket": _bucket,
    "AWS::SSM::Parameter": _parameter,
    "AWS::SNS::Subscription": _subscription,
    "AWS::SNS::Topic": _topic,
    "AWS::SQS::Queue": _queue,
    "AWS::Scheduler::Schedule": _schedule,
    "AWS::Scheduler::ScheduleGroup": _schedule_group,
    "AWS::StepFunctions::StateMachine": _state_machine,
}
