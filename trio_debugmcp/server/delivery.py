"""Send what is in a subscriber's mailbox to its client, as its protocol era has it and at its own pace."""

from typing import Any, NoReturn

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import RequestId

from trio_debugmcp.publish.hub import ListChanged, Logged, Notice, Subscriber, Updated


async def deliver(
    subscriber: Subscriber,
    sdk_session: ServerSession,
    request_id: RequestId | None = None,
    *,
    subscription: bool = False,
) -> NoReturn:
    """Send the notifications of a connection, or of one request of it, in order. Runs until cancelled.

    The notifications of a `subscription` name the request that asked for them.

    Raises:
        trio.EndOfChannel: the subscriber is finished, and everything that was queued is sent.
    """
    meta: dict[str, Any] | None = {SUBSCRIPTION_ID_META_KEY: request_id} if subscription else None
    while True:
        # One at a time: while the client does not read, updates coalesce in the mailbox instead of in the transport.
        await sdk_session.send_notification(_notification(await subscriber.receive(), meta), request_id)


async def acknowledge(wanted: types.SubscriptionFilter, sdk_session: ServerSession, request_id: RequestId) -> None:
    """Send the first message of a subscription, which grants everything that it asked for.

    Changes of the lists of tools and prompts are granted as well, although these lists never change.
    """
    granted = types.SubscriptionFilter(
        tools_list_changed=wanted.tools_list_changed or None,
        prompts_list_changed=wanted.prompts_list_changed or None,
        resources_list_changed=wanted.resources_list_changed or None,
        resource_subscriptions=list(wanted.resource_subscriptions or ()) or None,
    )
    meta: dict[str, Any] = {SUBSCRIPTION_ID_META_KEY: request_id}
    params = types.SubscriptionsAcknowledgedNotificationParams(notifications=granted, _meta=meta)
    await sdk_session.send_notification(types.SubscriptionsAcknowledgedNotification(params=params), request_id)


def _notification(notice: Notice, meta: dict[str, Any] | None) -> types.ServerNotification:
    match notice:
        case Updated(uri=uri):
            return types.ResourceUpdatedNotification(
                params=types.ResourceUpdatedNotificationParams(uri=uri, _meta=meta)
            )
        case ListChanged():
            params = None if meta is None else types.NotificationParams(_meta=meta)
            return types.ResourceListChangedNotification(params=params)
        case Logged(level=level, logger=logger, text=text):
            return types.LoggingMessageNotification(
                params=types.LoggingMessageNotificationParams(level=level, logger=logger, data=text)
            )
