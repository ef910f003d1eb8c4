package org.globalfs.multicast.transport;

import org.globalfs.multicast.core.Message;

/** Where the transport hands what it receives, on the event loop's thread. */
public interface MessageReceiver {
    void onMessage(int from, int ring, Message message);

    void onConnected(int peer);
}
