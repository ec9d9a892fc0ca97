import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.PrintWriter;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs the tests of a class, or one method of it: RunJUnit5 CLASS, RunJUnit5 CLASS#METHOD(TYPES). */
public class RunJUnit5 {
    public static void main(String[] args) {
        LauncherDiscoveryRequest wanted = LauncherDiscoveryRequestBuilder.request()
                .selectors(args[0].contains("#") ? selectMethod(args[0]) : selectClass(args[0]))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(wanted, listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out, true));
        summary.printTo(new PrintWriter(System.out, true));
        System.exit(summary.getTotalFailureCount() == 0 ? 0 : 1);
    }
}
