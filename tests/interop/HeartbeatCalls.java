import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.connect.mirror.RemoteClusterUtils;

/** What an application learns from Java's MirrorClient: HeartbeatCalls BOOTSTRAP ALIAS... */
public class HeartbeatCalls {
    public static void main(String[] args) throws Exception {
        Map<String, Object> cluster = Map.of("bootstrap.servers", args[0]);
        System.out.println("upstreamClusters: " + new TreeSet<>(RemoteClusterUtils.upstreamClusters(cluster)));
        System.out.println("heartbeatTopics: " + new TreeSet<>(RemoteClusterUtils.heartbeatTopics(cluster)));
        for (int i = 1; i < args.length; i++) {
            System.out.println("replicationHops " + args[i] + ": " + RemoteClusterUtils.replicationHops(cluster, args[i]));
        }
    }
}
